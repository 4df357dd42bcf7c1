// Elements of tuples that were made before are used directly.
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

// Slices of long tuples may cost more than they save.
constexpr size_t kMostSlicedElements = size_t{1} << 20;

void lower_index(Node& node, const Node& tuple) {
  const Node& maker = *node.input(1)->node();
  if (!maker.is(NodeKind::kConstant) || !maker.constant.is(IValue::Tag::kInt)) return;
  const auto size = static_cast<int64_t>(tuple.inputs().size());
  const int64_t index = maker.constant.as_int();
  const int64_t place = index < 0 && index >= -size ? index + size : index;
  // An index beyond the end fails when it runs.
  if (place < 0 || place >= size) return;
  node.output()->replace_uses_with(tuple.input(static_cast<size_t>(place)));
}

void lower_slice(Node& node, const Node& tuple, size_t& sliced) {
  const auto size = static_cast<int64_t>(tuple.inputs().size());
  if (node.begin < 0 || node.begin > node.end || node.end > size) return;
  const auto count = static_cast<size_t>(node.end - node.begin);
  sliced += count;
  if (sliced > kMostSlicedElements) return;
  ir::Graph& graph = node.graph();
  const auto elements = tuple.inputs().subspan(static_cast<size_t>(node.begin), count);
  std::vector<Type> types;
  for (const Value* element : elements) types.push_back(element->type());
  Node* made = graph.make(NodeKind::kTupleConstruct, elements);
  made->output()->set_type(Type::tuple(std::move(types)));
  made->range = node.range;
  made->frame = node.frame;
  made->insert_before(&node);
  node.output()->replace_uses_with(made->output());
}

}  // namespace

void lower_simple_tuples(ir::Graph& graph) {
  size_t sliced = 0;
  ir::for_each_node(graph.block(), [&](Node& node) {
    const bool takes_out =
        node.is(NodeKind::kTupleUnpack) || node.is(NodeKind::kTupleIndex) || node.is(NodeKind::kTupleSlice);
    if (!takes_out || !node.input(0)->node()->is(NodeKind::kTupleConstruct)) return;
    const Node& tuple = *node.input(0)->node();
    if (node.is(NodeKind::kTupleIndex)) return lower_index(node, tuple);
    if (node.is(NodeKind::kTupleSlice)) return lower_slice(node, tuple, sliced);
    if (node.outputs().size() != tuple.inputs().size()) return;
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      node.output(i)->replace_uses_with(tuple.input(i));
    }
  });
  eliminate_dead_code(graph);
}

}  // namespace flambeau::script
