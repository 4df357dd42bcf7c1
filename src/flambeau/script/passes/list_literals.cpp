// [] without a type, where nothing said of what.
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/passes/passes.h"

namespace flambeau::script {

void erase_list_literals(ir::Graph& graph) {
  ir::for_each_node(graph.block(), [&](ir::Node& node) {
    if (!node.is(ir::NodeKind::kEmptyListLiteral)) return;
    if (node.output()->has_uses()) {
      ir::Node* list = graph.make(ir::NodeKind::kListConstruct);
      list->output()->set_type(Type::list(TypeKind::kTensor));
      list->insert_before(&node);
      node.output()->replace_uses_with(list->output());
    }
    node.destroy();
  });
}

}  // namespace flambeau::script
