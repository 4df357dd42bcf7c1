#include "flambeau/runtime/mutation.h"

#include <numeric>

namespace flambeau::runtime {
namespace {

// Slots that may share memory.
class AliasSets {
 public:
  explicit AliasSets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), Slot{0}); }
  Slot find(Slot slot) {
    while (parent_[slot] != slot) slot = parent_[slot] = parent_[parent_[slot]];
    return slot;
  }
  void join(Slot a, Slot b) { parent_[find(a)] = find(b); }

 private:
  std::vector<Slot> parent_;
};

// Normalizations that use the batch's statistics write to the running ones, which no schema says.
bool writes_statistics(const Instruction& instruction) {
  const Schema& schema = instruction.op->schema;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const std::string& name = schema.arguments[i].name;
    if (name != "training" && name != "use_input_stats") continue;
    const bool* const is_on = instruction.arguments[i].constant.get_if<bool>();
    return is_on == nullptr || *is_on;
  }
  return false;
}
bool is_statistic(const SchemaArgument& argument) {
  return argument.name == "running_mean" || argument.name == "running_var";
}

}  // namespace

std::vector<bool> find_written_inputs(const Code& code) {
  AliasSets sets(code.slot_count);
  std::vector<Slot> written;
  for (const Instruction& instruction : code.instructions) {
    const bool is_operator = instruction.kind == Instruction::Kind::kOperator;
    const bool has_statistics = is_operator && writes_statistics(instruction);
    for (size_t i = 0; i < instruction.arguments.size(); ++i) {
      const SchemaArgument* const argument = is_operator ? &instruction.op->schema.arguments[i] : nullptr;
      // A branch may hand its operand on.
      const bool may_alias = argument == nullptr || argument->alias.has_value();
      for_each_slot(instruction.arguments[i], [&](Slot slot) {
        if (argument != nullptr && (argument->is_written() || (has_statistics && is_statistic(*argument))))
          written.push_back(slot);
        if (!may_alias) return;
        for (const Target& target : instruction.results) {
          for (const Slot result : target.slots) {
            if (result != kNoSlot) sets.join(slot, result);
          }
        }
      });
    }
  }
  std::vector<bool> is_written(code.slot_count, false);
  for (const Slot slot : written) is_written[sets.find(slot)] = true;
  std::vector<bool> inputs;
  for (const Slot slot : code.inputs) inputs.push_back(slot != kNoSlot && is_written[sets.find(slot)]);
  return inputs;
}

}  // namespace flambeau::runtime
