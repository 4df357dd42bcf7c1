// Stands between a script that runs and the tracer: tells it which module and line call, and knows what the
// trace need not ask: tensors that are numbers made of sizes, and small ones that are made of constants
// alone, whose elements a script may look at.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/migrate/outer_writes.h"
#include "flambeau/migrate/script_program.h"
#include "flambeau/migrate/script_state.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/symbolic/expr.h"

namespace flambeau::nn {
class Observer;
}

namespace flambeau::migration {

class TracedCalls final : public ops::Interceptor {
 public:
  TracedCalls(nn::Module& root, Story& story) : root_(root), story_(story) {}

  std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                          std::span<const Value> arguments) override;

  // Of the innermost side or turn that runs; null outside of all.
  OuterWrites* outer_writes = nullptr;

  // The machine that runs the script; null when none does.
  interpreter::Machine* machine = nullptr;

  // The tensor with its elements, where they are the same in every run; nothing where they are not known.
  std::optional<Tensor> known(const Tensor& tensor) const;
  // The number that a tensor stands for, where it is made of sizes.
  std::optional<SymInt> number(const Tensor& tensor) const;
  // A tensor that stands for that number.
  Tensor tensor_of(const SymInt& number) const;
  // A tensor of the program: a number that stands for one becomes one.
  Tensor as_tensor(const Tensor& tensor) const;
  // The example's number. Throws Error(kUnsupported) where data decides.
  int64_t specialize(const SymInt& number);
  // A bool that a comparison of numbers gave, and what it asked.
  void note_condition(const Tensor& flag, const symbolic::Expr& condition);
  std::optional<symbolic::Expr> condition_of(const Tensor& flag) const;
  // The error with the line of the script that runs now.
  Error located(const Error& error) const;
  // The elements of a state are looked at: the program relies on them.
  void note_look(const Tensor& tensor);
  // A tensor of the file that the method changes: its elements are not the same in every run.
  void set_unknown(const Tensor& tensor) { unknown_.insert(tensor.storage().get()); }
  // Whether the script looked at elements, and this tensor's were among those that it could tell them by.
  bool relies_on(const Tensor& tensor) const {
    return has_looked_ && relied_.contains(tensor.storage().get());
  }
  bool is_written(const Tensor& tensor) const { return written_.contains(tensor.storage().get()); }
  // The end of the run: what ran several times is told of.
  void tell_story();
  // Says where the script is, to whoever traces.
  void tell_place();
  void leave_all();

 private:
  const ops::Operator& without_data_numbers(const ops::Operator& op, std::vector<Value>& arguments);
  std::vector<Value> traced(const ops::Operator& op, std::span<const Value> arguments);
  void note(std::vector<std::string>& texts, const std::string& what);
  std::optional<std::vector<Value>> computed_number(const ops::Operator& op,
                                                    std::span<const Value> arguments);
  std::optional<std::vector<Value>> read_element(const ops::Operator& op, std::span<const Value> arguments);
  std::optional<std::vector<Value>> read_geometry(const ops::Operator& op, std::span<const Value> arguments);
  // What computes with integers that stand for real numbers is written down in parts: programs have no such
  // tensors, nor the objects that keep packed weights. Nothing for other calls.
  std::optional<std::vector<Value>> in_parts(ops::Context& context, const ops::Operator& op,
                                             std::span<const Value> arguments);
  std::optional<std::vector<Value>> by_other_names(ops::Context& context, const ops::Operator& op,
                                                   std::span<const Value> arguments);
  void remember(const ops::Operator& op, std::span<const Value> arguments, std::span<const Value> results);
  void note_writes(const ops::Operator& op, std::span<const Value> arguments);
  const Storage* root_of(const Tensor& tensor) const;
  void check_outer_writes(const ops::Operator& op, std::span<const Value> arguments);
  // A view, made outside, of a tensor that the graph inside has a copy of.
  void require_fresh(const Tensor& tensor) const;

  struct Known {
    std::shared_ptr<Storage> storage;  // keeps the address from being used again
    Tensor value;
  };

  nn::Module& root_;
  Story& story_;
  std::unordered_set<std::string> noted_;
  struct Runs {
    size_t count = 0;
    std::string line;
  };
  std::unordered_map<std::string, Runs> runs_;  // by the call and the calls that led to it
  std::string place_;
  size_t depth_ = 0;  // operators are made of others
  std::unordered_map<const Storage*, Known> known_;
  struct View {
    std::shared_ptr<Storage> storage;  // its own
    std::shared_ptr<Storage> root;     // of what it is a view of, in the end
    Tensor base;
  };
  std::unordered_map<const Storage*, View> bases_;
  std::unordered_set<const Storage*> written_;
  std::unordered_set<const Storage*> unknown_;
  mutable std::unordered_set<const Storage*> relied_;  // of tensors of the file
  bool has_looked_ = false;
  std::unordered_map<const Storage*, std::pair<std::shared_ptr<Storage>, symbolic::Expr>> conditions_;
  std::vector<std::pair<std::string, nn::Module*>> open_;
  std::string path_;
};

// A number that has no value in the example.
bool is_from_data(const SymInt& number);
// A tensor that has no elements: the tracer's.
bool is_fake(const Tensor& tensor);

}  // namespace flambeau::migration
