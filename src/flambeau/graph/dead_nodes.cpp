#include "flambeau/graph/dead_nodes.h"

namespace flambeau::graph {
namespace {

bool is_used(const Node& node) {
  bool used = false;
  for (const Argument& output : node.outputs()) {
    output.for_each_value([&](const Value& value) {
      for (const ValueRef& ref : value.refs()) used = used || ref.role() != ValueRef::Role::kDefinition;
    });
  }
  return used;
}

}  // namespace

bool remove_unused_nodes(Graph& graph, const std::function<bool(const Node& node)>& may_go) {
  bool has_changed = false;
  // From the end on: what a dead node used may be dead then.
  for (Node* node = graph.last_node(); node != nullptr;) {
    Node* const previous = node->previous();
    if (!is_used(*node) && may_go(*node)) {
      graph.erase(*node);
      has_changed = true;
    } else {
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        Argument& input = node->mutable_input(i);
        if (!input.is(ArgumentKind::kGraph)) continue;
        has_changed = remove_unused_nodes(*input.get<ArgumentKind::kGraph>().graph, may_go) || has_changed;
      }
    }
    node = previous;
  }
  return has_changed;
}

}  // namespace flambeau::graph
