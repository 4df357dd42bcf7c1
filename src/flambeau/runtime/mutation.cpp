#include "flambeau/runtime/mutation.h"

#include <algorithm>
#include <numeric>

#include "flambeau/ops/mechanism/facts.h"

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

// Beside what its schema says.
bool has_hidden_writes(const Instruction& instruction) {
  const ops::Facts& facts = instruction.op->facts();
  if (facts.hidden_writes.empty()) return false;
  const std::optional<size_t> flag = instruction.op->schema.find_argument(facts.writes_when);
  const bool* const is_on = instruction.arguments.at(flag.value()).constant.get_if<bool>();
  return is_on == nullptr || *is_on;
}

}  // namespace

std::vector<bool> find_written_inputs(const Code& code) {
  AliasSets sets(code.slot_count);
  std::vector<Slot> written;
  for (const Instruction& instruction : code.instructions) {
    const bool is_operator = instruction.kind == Instruction::Kind::kOperator;
    const bool writes_more = is_operator && has_hidden_writes(instruction);
    for (size_t i = 0; i < instruction.arguments.size(); ++i) {
      const SchemaArgument* const argument = is_operator ? &instruction.op->schema.arguments[i] : nullptr;
      const bool is_written =
          argument != nullptr &&
          (argument->is_written() ||
           (writes_more && std::ranges::count(instruction.op->facts().hidden_writes, argument->name) > 0));
      // A branch may hand its operand on.
      const bool may_alias = argument == nullptr || argument->alias.has_value();
      for_each_slot(instruction.arguments[i], [&](Slot slot) {
        if (is_written) written.push_back(slot);
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
