// A plan: the flat list of kernel calls that one run makes for inputs of certain shapes, with every shape
// known, every view resolved and all memory laid out. Made by running the program once on tensors that have
// no data.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/backends/backend.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/runtime/code.h"
#include "flambeau/runtime/work.h"

namespace flambeau::ops {
class BlockProgram;
}

namespace flambeau::runtime {

struct Step {
  const ops::Operator* op = nullptr;
  std::vector<Value> arguments;
  std::vector<Tensor> outputs;  // empty for operators that write to their arguments only
  std::shared_ptr<const backends::PreparedLayer> prepared;  // instead of the operator's kernel
  std::shared_ptr<const ops::BlockProgram> blocks;          // the same, by the operators' own loops
  std::string label;                                        // of what replaced several operators
  std::string node;                                         // for messages and profiles
  size_t calls = 1;                                         // of operators, as budgets count them
  Work work;                                                // of the operator, before anything replaced it
  std::string name() const { return label.empty() ? op->name() : label; }
};

// Memory that a run writes: its own, or that of an input or output, which changes from run to run.
struct Buffer {
  enum class Kind : uint8_t { kArena, kInput, kOutput };
  Kind kind = Kind::kArena;
  size_t bytes = 0;
  size_t input = 0;           // kInput: which
  size_t first = 0;           // kArena: the steps between which it is needed, both included
  size_t last = 0;            // before the first: never
  size_t offset = 0;          // kArena: its place
  bool is_on_device = false;  // kArena: of the backend's memory, elsewhere than on the host

  bool is_needed() const { return first <= last; }
};

struct Plan {
  std::shared_ptr<const backends::Backend> backend;
  std::vector<Step> steps;
  std::vector<Value> outputs;  // the graph's, and then the copies of inputs that it wrote to
  std::vector<Buffer> buffers;
  // The storage that stands for each buffer in the steps; it has no bytes (or only those of planning).
  std::unordered_map<const Storage*, size_t> buffer_of;
  std::vector<std::shared_ptr<Storage>> stand_ins;  // beside buffers
  size_t arena_bytes = 0;
  size_t device_bytes = 0;   // of the arena on the backend's device
  size_t scratch_bytes = 0;  // in the backend's memory

  // The buffer a tensor lives in; nothing for a constant.
  std::optional<size_t> find_buffer(const Tensor& tensor) const {
    const auto found = buffer_of.find(tensor.storage().get());
    return found == buffer_of.end() ? std::nullopt : std::optional(found->second);
  }
};

// Beside the graph's inputs: a value that stays the same in all runs, or one that changes.
struct PlanInput {
  Value value;
  bool is_constant = false;
};

// The backend's layers are where the plans of a program come from; `packed` is shared by them. `is_written`,
// beside the inputs: the program writes to them, so it works on a copy. Throws Error where the program cannot
// be planned: its shapes or its ways depend on data.
std::unique_ptr<Plan> make_plan(ops::Context& context, const Code& code, const std::vector<bool>& is_written,
                                const std::vector<PlanInput>& inputs,
                                std::shared_ptr<const backends::Backend> backend,
                                backends::PackedWeights& packed);

// How a plan is made: the calls are written down, then each pass changes them, in this order.
std::unique_ptr<Plan> record_plan(ops::Context& context, const Code& code,
                                  const std::vector<bool>& is_written, const std::vector<PlanInput>& inputs,
                                  std::shared_ptr<const backends::Backend> backend);
struct PlanPass {
  std::string_view name;
  void (*run)(ops::Context& context, Plan& plan, backends::PackedWeights& packed);
};
std::span<const PlanPass> plan_passes();

// Calls visit(tensor) for each tensor of a value.
template <typename Visit>
void for_each_tensor(Value& value, Visit&& visit) {
  if (auto* const tensor = value.get_if<Tensor>()) {
    if (tensor->defined()) visit(*tensor);
  } else if (auto* const list = value.get_if<TensorList>()) {
    for (Tensor& item : *list) {
      if (item.defined()) visit(item);
    }
  } else if (auto* const items = value.get_if<ValueList>()) {
    for (Value& item : *items) for_each_tensor(item, visit);
  }
}
template <typename Visit>
void for_each_tensor(const Value& value, Visit&& visit) {
  for_each_tensor(const_cast<Value&>(value), [&](const Tensor& tensor) { visit(tensor); });
}

}  // namespace flambeau::runtime
