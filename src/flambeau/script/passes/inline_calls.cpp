// Calls become what they call. Nodes remember which calls they came through.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

using ir::CallFrame;
using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

constexpr int kMostCallDepth = 1000;

// Null for what is not inlined.
const Function* callee_of(const Node& node, const Unit& unit) {
  if (node.is(NodeKind::kCallFunction)) {
    const std::string& name = node.input(0)->node()->name;
    return name.empty() ? nullptr : &unit.get_function(name);
  }
  if (!node.is(NodeKind::kCallMethod) || !node.input(0)->type().is(TypeKind::kClass)) return nullptr;
  const std::shared_ptr<Class> found = unit.find_class(node.input(0)->type().name());
  if (found == nullptr || found->is_interface() || is_native_class(found->qualified_name())) return nullptr;
  const std::shared_ptr<Function>* method = found->find_method(node.name);
  return method == nullptr ? nullptr : method->get();
}

void check_recursion(const Node& node, const Function& callee) {
  int depth = 0;
  for (const CallFrame* frame = node.frame.get(); frame != nullptr; frame = frame->outer.get()) {
    if (frame->function == callee.qualified_name()) {
      throw Error(ErrorCode::kUnsupported, fmt::format("{} calls itself, which cannot be inlined",
                                                       printable(callee.qualified_name())));
    }
    if (++depth > kMostCallDepth) throw Error(ErrorCode::kLimit, "calls are nested too deep to be inlined");
  }
}

// The way from a module to the one whose method is called: "layer1.0". `self` of an inlined method was
// replaced by what was given for it, so that the whole way is in the graph.
std::string module_path(const Value* object) {
  std::string path;
  for (int depth = 0; depth < kMostCallDepth && object->node()->is(NodeKind::kGetAttr); ++depth) {
    const Node& node = *object->node();
    if (!path.empty()) path.insert(0, 1, '.');
    path.insert(0, node.name);
    object = node.input(0);
  }
  return path;
}

}  // namespace

void inline_calls(ir::Graph& graph, const Unit& unit, size_t most_nodes) {
  inline_calls(graph, unit, [](const Function& callee) { return callee.graph(); }, most_nodes);
}

void inline_calls(ir::Graph& graph, const Unit& unit, const CalleeGraphs& graph_of, size_t most_nodes) {
  for (Node* node = graph.block().first(); node != nullptr;) {
    if (node->subgraph != nullptr) inline_calls(*node->subgraph, unit, graph_of, most_nodes);
    const Function* callee = callee_of(*node, unit);
    if (callee == nullptr) {
      node = ir::next_inside(node, graph.block());
      continue;
    }
    check_recursion(*node, *callee);
    if (graph.made_nodes() > most_nodes) {
      throw Error(ErrorCode::kLimit,
                  fmt::format("a graph of more than {} nodes once calls are inlined", most_nodes));
    }
    auto frame = std::make_shared<CallFrame>();
    frame->function = callee->qualified_name();
    frame->called_at = node->range;
    frame->outer = node->frame;
    const bool is_function = node->is(NodeKind::kCallFunction);
    if (!is_function) frame->module_path = module_path(node->input(0));
    Node* before = node->previous();
    ir::Block* block = node->block();
    graph.set_insert_point(node);
    const auto arguments = is_function ? node->inputs().subspan(1) : node->inputs();
    const std::vector<Value*> outputs = graph.inline_graph(*graph_of(*callee), arguments, frame);
    if (outputs.size() != 1) {
      throw Error(ErrorCode::kInternal, fmt::format("{} gives {} values; a function gives one",
                                                    printable(callee->qualified_name()), outputs.size()));
    }
    Value* output = node->output();
    output->replace_uses_with(outputs[0]);
    if (output->has_name() && !outputs[0]->has_name()) outputs[0]->set_name(output->name());
    // What was inlined may call others.
    Node* first = before != nullptr ? before->next() : block->first();
    Node* next = first != node ? first : ir::next_outside(node, graph.block());
    node->destroy();
    node = next;
  }
  graph.set_insert_point(graph.block());
}

}  // namespace flambeau::script
