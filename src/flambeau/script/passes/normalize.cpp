// Operators by their first names.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/aliases.h"
#include "flambeau/script/operators/overload_taking.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

// The overload of that name that takes the node's inputs as they are.
const OperatorEntry& find_overload(const Unit& unit, std::string_view name, const Node& node) {
  if (const Overload* const found = overload_taking(unit, name, node.inputs())) return *found->entry;
  throw Error(ErrorCode::kUnsupported, fmt::format("{} has no overload for what {} was given", name,
                                                   printable(node.op->schema.name.to_string())));
}

void normalize(Node& node, const Unit& unit) {
  // A name may be another one's alias that is itself one's.
  constexpr int kMostSteps = 4;
  for (int step = 0; step < kMostSteps; ++step) {
    const OperatorName& name = node.op->schema.name;
    const auto inputs = node.inputs();
    if (const std::string_view other = swapped_operator(name.name, name.overload); !other.empty()) {
      Value* first = inputs[0];
      node.replace_input(0, inputs[1]);
      node.replace_input(1, first);
      node.op = &find_overload(unit, other, node);
    } else if (const std::string_view target = alias_target(name.name); !target.empty()) {
      node.op = &find_overload(unit, target, node);
    } else if (const std::string_view comparison = comparison_of_booleans(name.name);
               !comparison.empty() && inputs.size() == 2 && inputs[0]->type().is(TypeKind::kBool) &&
               inputs[1]->type().is(TypeKind::kBool)) {
      node.op = &find_overload(unit, comparison, node);
    } else {
      return;
    }
  }
}

}  // namespace

void normalize_operators(ir::Graph& graph, const Unit& unit) {
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (node.is(NodeKind::kOperator)) normalize(node, unit);
  });
}

}  // namespace flambeau::script
