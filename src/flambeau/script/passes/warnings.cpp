// Warnings are numbered, so that each is given once.
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/effects.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

void annotate_warnings(ir::Graph& graph, Unit& unit) {
  ir::for_each_node(graph.block(), [&](ir::Node& node) {
    if (node.is(ir::NodeKind::kOperator) && is_warning(node.op->schema.name)) {
      node.warn_id = unit.next_warn_id();
    }
  });
}

}  // namespace flambeau::script
