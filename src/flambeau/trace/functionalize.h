// Resolves writes: what a traced program writes to a tensor becomes a new tensor without the write, and every
// other view of the same memory is made again from it when it is next used. Stands in front of whatever
// records the operators, which then sees none that writes.
//
// Each tensor outside stands for one inside that holds its value now. Tensors that share memory share a base;
// a view also knows the operators that lead from the base to it. A write through a view is kept until
// somebody asks, then put into the base step by step (slice_scatter and its like). This follows PyTorch's
// functionalization to the letter, also where a view is made once more than needed: the recorded graphs
// agree.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/trace/decomposition_table.h"

namespace flambeau::trace {

class Functionalizer : public ops::Interceptor {
 public:
  // Calls without writes go to the interceptor of `inner`. Both must outlive it.
  Functionalizer(ops::Context& inner, const DecompositionTable& table, bool& quiet)
      : inner_(inner), table_(table) {
    is_quiet = &quiet;
  }

  std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                          std::span<const Value> arguments) override;

  // The outside of a tensor that the recorder knows.
  Tensor wrap(const Tensor& value);
  // What holds its value now, up to date; the tensor itself where it is none of these.
  Tensor value(const Tensor& outside);
  // Something was written to its memory.
  bool is_written(const Tensor& outside) const;

 private:
  // One step from a base to a view: an operator, its arguments but the first, and which of its results.
  struct Step {
    const ops::Operator* op;
    std::vector<Value> arguments;
    size_t result;
  };
  using Steps = std::vector<std::shared_ptr<const Step>>;
  struct Write {
    Tensor value;
    Steps steps;  // to the view that was written
  };
  struct Memory {
    Tensor base;
    std::vector<Write> writes;  // not in the base yet
    uint64_t generation = 0;
  };
  struct Outside {
    Tensor value;
    Steps steps;
    uint64_t generation = 0;
    std::shared_ptr<Memory> memory;
  };
  using Entry = std::shared_ptr<Outside>;
  struct Slot {
    Entry entry;
    std::shared_ptr<Storage> storage;  // keeps the address from being used again
  };

  Entry find(const Tensor& outside) const;
  Tensor expose(Entry entry);
  Value unwrap(const Value& value);
  std::vector<Value> wrap_all(std::vector<Value> results);
  std::vector<Value> call_view(const ops::Operator& op, std::span<const Value> arguments);
  std::vector<Value> call_write(const ops::Operator& op, std::span<const Value> arguments);
  // A view that changes what its argument is: unsqueeze_.
  std::vector<Value> call_view_in_place(const ops::Operator& op, std::span<const Value> arguments);

  void bring_up_to_date(Outside& entry);
  void put_writes(Memory& memory);
  Tensor forward(const Step& step, const Tensor& base);
  // The base with the view's new value in it.
  Tensor backward(const Step& step, const Tensor& base, const Tensor& view);
  void write(Outside& entry, Tensor value);

  ops::Context& inner_;
  const DecompositionTable& table_;
  std::unordered_map<const Storage*, Slot> slots_;
};

}  // namespace flambeau::trace
