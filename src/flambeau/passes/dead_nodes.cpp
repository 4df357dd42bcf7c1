#include "flambeau/passes/effects.h"
#include "flambeau/passes/passes.h"

namespace flambeau::passes {
namespace {

// By a node or output, or mentioned in how a module was called.
bool is_used(const graph::Node& node) {
  bool used = false;
  for (const graph::Argument& output : node.outputs()) {
    output.for_each_value([&](const graph::Value& value) {
      for (const graph::ValueRef& ref : value.refs())
        used = used || ref.role() != graph::ValueRef::Role::kDefinition;
    });
  }
  return used;
}

// From the end on: what a dead node used may be dead then.
bool remove_from(graph::Graph& graph, const ops::Library& library) {
  bool has_changed = false;
  for (graph::Node* node = graph.last_node(); node != nullptr;) {
    graph::Node* const previous = node->previous();
    if (!is_used(*node) && effects_of(*node, library).is_pure()) {
      graph.erase(*node);
      has_changed = true;
    } else {
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        graph::Argument& input = node->mutable_input(i);
        if (!input.is(graph::ArgumentKind::kGraph)) continue;
        has_changed = remove_from(*input.get<graph::ArgumentKind::kGraph>().graph, library) || has_changed;
      }
    }
    node = previous;
  }
  return has_changed;
}

}  // namespace

bool remove_dead_nodes(graph::ExportedProgram& program, const ops::Library& library) {
  return remove_from(program.graph(), library);
}

}  // namespace flambeau::passes
