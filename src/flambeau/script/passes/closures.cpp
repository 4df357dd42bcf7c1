// Functions inside of a function are only ever forked or awaited: they become graphs of those nodes.
#include <fmt/format.h>

#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/passes/passes.h"

namespace flambeau::script {

using ir::Block;
using ir::Graph;
using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

// Values that the block uses and does not make, each once.
std::vector<Value*> captured_by(const Node& closure) {
  const Block& block = *closure.block(0);
  std::vector<Value*> captured;
  std::unordered_set<const Value*> seen;
  const auto look_at = [&](const Node& node) {
    for (Value* input : node.inputs()) {
      const Node* maker = input->node();
      if (!seen.insert(input).second || maker->is_inside(&closure)) continue;
      captured.push_back(input);
    }
  };
  ir::for_each_node(block, [&](const Node& node) {
    look_at(node);
    for (const Block* inner : node.blocks()) look_at(*inner->return_node());
  });
  look_at(*block.return_node());
  return captured;
}

std::shared_ptr<Graph> graph_of(const Node& closure, std::span<Value* const> captured) {
  auto graph = std::make_shared<Graph>();
  Graph::ValueMap values;
  for (const Value* value : captured) {
    Value* input = graph->block().add_input(value->type());
    if (value->has_name()) input->set_name(value->name());
    values[value] = input;
  }
  const Block& block = *closure.block(0);
  graph->copy_block(block, graph->block(), values);
  for (const Value* output : block.outputs()) graph->block().add_output(values.at(output));
  return graph;
}

}  // namespace

void lift_closures(Graph& graph, const std::function<void(Graph&)>& clean) {
  std::vector<Node*> users;
  std::vector<Node*> closures;
  // Those inside of a closure are found when its graph is cleaned.
  for (Node* node = graph.block().first(); node != nullptr;) {
    if ((node->is(NodeKind::kFork) || node->is(NodeKind::kAwaitable)) && node->subgraph == nullptr) {
      users.push_back(node);
    }
    const bool is_closure = node->is(NodeKind::kClosure);
    if (is_closure) closures.push_back(node);
    node = is_closure ? ir::next_outside(node, graph.block()) : ir::next_inside(node, graph.block());
  }
  size_t copied = 0;
  for (Node* user : users) {
    const Node* closure = user->inputs().empty() ? nullptr : user->input(0)->node();
    if (user->inputs().size() != 1 || !closure->is(NodeKind::kClosure) ||
        !closure->block(0)->inputs().empty()) {
      throw Error(ErrorCode::kUnsupported, "only a function without arguments can be forked or awaited");
    }
    const std::vector<Value*> captured = captured_by(*closure);
    user->subgraph = graph_of(*closure, captured);
    ir::for_each_node(std::as_const(user->subgraph->block()), [&](const Node&) { ++copied; });
    if (copied > ir::kMostNodes) {
      throw Error(ErrorCode::kLimit, fmt::format("forked functions have more than {} nodes", ir::kMostNodes));
    }
    user->remove_all_inputs();
    for (Value* value : captured) user->add_input(value);
    clean(*user->subgraph);
  }
  for (Node* closure : closures) {
    if (closure->output()->has_uses()) {
      throw Error(ErrorCode::kUnsupported, "a function inside of a function can only be forked or awaited");
    }
    closure->destroy();
  }
}

}  // namespace flambeau::script
