// Operators of old archives become what they meant then, said in operators of today.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/compiler/library.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/passes/load.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;

void replace_old_operators(ir::Graph& graph, Unit& unit) {
  std::vector<std::pair<Node*, const Upgrader*>> found;
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (!node.is(NodeKind::kOperator)) return;
    const Upgrader* upgrader = unit.operator_table().overload(*node.op).upgrader;
    if (upgrader != nullptr) found.emplace_back(&node, upgrader);
  });
  for (const auto& [node, upgrader] : found) {
    const std::shared_ptr<const ir::Graph> body = library_graph(unit, upgrader->text);
    graph.set_insert_point(node);
    const std::vector<ir::Value*> outputs = graph.inline_graph(*body, node->inputs());
    if (outputs.size() != node->outputs().size()) {
      throw Error(ErrorCode::kInternal, fmt::format("the upgrader {} gives {} values; its operator gives {}",
                                                    upgrader->name, outputs.size(), node->outputs().size()));
    }
    for (size_t i = 0; i < outputs.size(); ++i) node->output(i)->replace_uses_with(outputs[i]);
    node->destroy();
  }
  graph.set_insert_point(graph.block());
}

}  // namespace flambeau::script
