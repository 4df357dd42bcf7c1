#include "flambeau/interpreter/registers.h"

#include <unordered_map>

#include "flambeau/base/error.h"

namespace flambeau::interpreter {

Lifetime lifetime_of(const ir::Value& value) {
  Lifetime lifetime;
  const ir::Block* const home = value.node()->block();
  for (const ir::Use& use : value.uses()) {
    const ir::Node* node = use.user;
    bool is_inside = false;
    while (node->block() != home) {
      node = node->block()->owner();
      is_inside = true;
    }
    if (node == lifetime.last) {
      lifetime.is_inside = lifetime.is_inside || is_inside;
      if (!is_inside) lifetime.last_input = std::max(lifetime.last_input, use.index);
    } else if (lifetime.last == nullptr || lifetime.last->is_before(node)) {
      lifetime = {.last = node, .is_inside = is_inside, .last_input = is_inside ? 0 : use.index};
    }
  }
  return lifetime;
}

bool may_be_boxed(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kInt:
    case TypeKind::kFloat:
    case TypeKind::kBool:
    case TypeKind::kSymInt:
    case TypeKind::kSymFloat:
    case TypeKind::kSymBool:
    case TypeKind::kDevice:
    case TypeKind::kScalarType:
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
    case TypeKind::kQScheme:
    case TypeKind::kNone:
      return false;
    default:
      return true;
  }
}

uint32_t Registers::take() {
  if (!free_.empty()) {
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  if (count_ >= kMostOperands) {
    throw Error(ErrorCode::kLimit, "the function has more values than a machine has registers");
  }
  return count_++;
}

std::vector<Move> in_order(std::vector<Move> at_once, Registers& registers) {
  std::vector<Move> moves;
  struct Readers {
    std::vector<size_t> moves;
    size_t left = 0;  // of them
  };
  std::unordered_map<uint32_t, Readers> readers;  // of registers
  std::unordered_map<uint32_t, size_t> by_goal;
  std::vector<size_t> ready;
  std::vector<size_t> rest;
  for (size_t i = 0; i < at_once.size(); ++i) {
    const Operand from = at_once[i].from;
    if (!from.is_constant() && from.index() == at_once[i].to) continue;
    by_goal[at_once[i].to] = i;
    if (from.is_constant()) continue;
    readers[from.index()].moves.push_back(i);
    ++readers[from.index()].left;
  }
  for (const auto& [goal, index] : by_goal) {
    if (!readers.contains(goal)) ready.push_back(index);
    rest.push_back(index);
  }
  std::vector<bool> is_done(at_once.size(), false);
  std::vector<uint32_t> spares;
  while (true) {
    while (!ready.empty()) {
      const size_t index = ready.back();
      ready.pop_back();
      const Move move = at_once[index];
      moves.push_back(move);
      is_done[index] = true;
      if (move.from.is_constant()) continue;
      const auto place = readers.find(move.from.index());
      if (place == readers.end()) continue;  // it read a spare register
      if (--place->second.left > 0) continue;
      readers.erase(place);
      const auto waiting = by_goal.find(move.from.index());
      if (waiting != by_goal.end() && !is_done[waiting->second]) ready.push_back(waiting->second);
    }
    while (!rest.empty() && is_done[rest.back()]) rest.pop_back();
    if (rest.empty()) break;
    // Those that are left wait for each other in circles.
    const uint32_t goal = at_once[rest.back()].to;
    const uint32_t spare = registers.take();
    spares.push_back(spare);
    moves.push_back({Operand::of_register(goal, true), spare});
    for (const size_t index : readers[goal].moves) {
      if (!is_done[index]) at_once[index].from = Operand::of_register(spare, at_once[index].from.is_last());
    }
    readers.erase(goal);
    ready.push_back(rest.back());
  }
  for (const uint32_t spare : spares) registers.give_back(spare);
  return moves;
}

bool can_be_made_in_place(const ir::Block& body, size_t index) {
  const ir::Value& carried = *body.input(index);
  const ir::Value& next = *body.output(index);
  const ir::Node& maker = *next.node();
  if (maker.block() != &body || !maker.is(ir::NodeKind::kOperator) || maker.outputs().size() != 1 ||
      may_be_boxed(next.type()) || may_be_boxed(carried.type()))
    return false;
  size_t occurrences = 0;
  for (const ir::Use& use : next.uses()) {
    if (use.user == body.return_node()) ++occurrences;
  }
  const ir::Node* const last = lifetime_of(carried).last;
  return occurrences == 1 && (last == nullptr || last == &maker || last->is_before(&maker));
}

}  // namespace flambeau::interpreter
