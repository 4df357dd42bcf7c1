#include "flambeau/planned/purity.h"

#include <algorithm>
#include <unordered_map>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/effects.h"
#include "flambeau/script/passes/alias_classes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::planned {

using script::ir::Node;
using script::ir::NodeKind;
using script::ir::Value;

namespace {

bool is_pure_node(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kOperator:
      return !script::has_side_effects(node.op->schema.name) && !node.op->has(OperatorFlag::kFiles);
    case NodeKind::kConstant:
      return node.name.empty();  // no function
    case NodeKind::kIf:
    case NodeKind::kLoop:
    case NodeKind::kTupleConstruct:
    case NodeKind::kTupleUnpack:
    case NodeKind::kTupleIndex:
    case NodeKind::kTupleSlice:
    case NodeKind::kListConstruct:
    case NodeKind::kListUnpack:
    case NodeKind::kDictConstruct:
    case NodeKind::kIsInstance:
    case NodeKind::kUncheckedCast:
    case NodeKind::kUninitialized:
    case NodeKind::kRaiseException:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_pure(const script::ir::Graph& graph) {
  if (graph.inputs().empty() || graph.inputs()[0]->has_uses()) return false;
  const script::AliasClasses classes(graph);
  bool is_pure = true;
  script::ir::for_each_node(graph.block(), [&](const Node& node) {
    is_pure = is_pure && is_pure_node(node) &&
              std::ranges::none_of(script::AliasClasses::written_by(node), [&](const Value* value) {
                return classes.is_shared(classes.find(value));
              });
  });
  return is_pure;
}

runtime::Code calls_of(const script::ir::Graph& graph, const ops::Library& library) {
  runtime::Code code;
  std::unordered_map<const Value*, runtime::Slot> slots;
  const auto slot_of = [&](const Value* value) {
    return slots.try_emplace(value, static_cast<runtime::Slot>(slots.size())).first->second;
  };
  bool is_strange = false;
  script::ir::for_each_node(graph.block(), [&](const Node& node) {
    if (!node.is(NodeKind::kOperator)) return;
    is_strange = is_strange || script::sees_memory_order(node.op->schema.name);
    for (const Value* const written : script::AliasClasses::written_by(node))
      is_strange = is_strange || !written->node()->is(NodeKind::kOperator);
    runtime::Instruction instruction;
    instruction.op = library.find(node.op->schema.name);
    if (instruction.op == nullptr) return;
    for (const Value* const input : node.inputs()) {
      runtime::Source source;
      source.kind = runtime::Source::Kind::kValue;
      source.slot = slot_of(input);
      instruction.arguments.push_back(std::move(source));
    }
    for (const Value* const output : node.outputs())
      instruction.results.push_back({false, {slot_of(output)}});
    code.instructions.push_back(std::move(instruction));
  });
  if (is_strange) {
    runtime::Instruction unknown;
    unknown.kind = runtime::Instruction::Kind::kHigherOrder;
    code.instructions.push_back(std::move(unknown));
  }
  code.slot_count = slots.size();
  return code;
}

}  // namespace flambeau::planned
