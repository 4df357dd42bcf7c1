// The order of what branches and loops give: that of the first use, so that it does not depend on how they
// came to be.
#include <algorithm>
#include <numeric>
#include <optional>

#include "flambeau/script/passes/passes.h"

namespace flambeau::script {

using ir::Block;
using ir::Node;
using ir::NodeKind;
using ir::Use;
using ir::Value;

namespace {

bool comes_before(const Use& a, const Use& b) {
  return a.user == b.user ? a.index < b.index : a.user->is_before(b.user);
}

std::vector<size_t> order_of_first_uses(std::span<Value* const> values) {
  std::vector<std::optional<Use>> first(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    for (const Use& use : values[i]->uses()) {
      if (!first[i] || comes_before(use, *first[i])) first[i] = use;
    }
  }
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Those without a use stay in their order, at the end.
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    if (!first[a] || !first[b]) return first[a].has_value() && !first[b].has_value();
    return comes_before(*first[a], *first[b]);
  });
  return order;
}

std::vector<size_t> behind(size_t count, const std::vector<size_t>& order) {
  std::vector<size_t> result(count);
  std::iota(result.begin(), result.end(), size_t{0});
  for (const size_t index : order) result.push_back(index + count);
  return result;
}

void sort_outputs(Node& node) {
  if (node.outputs().size() < 2) return;
  const std::vector<size_t> order = order_of_first_uses(node.outputs());
  if (std::ranges::is_sorted(order)) return;
  node.reorder_outputs(order);
  if (node.is(NodeKind::kIf)) {
    for (Block* block : node.blocks()) block->return_node()->reorder_inputs(order);
    return;
  }
  Block& body = *node.block(0);
  node.reorder_inputs(behind(2, order));
  body.return_node()->reorder_inputs(behind(1, order));
  body.parameter_node()->reorder_outputs(behind(1, order));
}

}  // namespace

// Backwards, and an outer node before those inside of it: the order of a node's outputs depends on the uses
// behind it, which other outputs may be.
void canonicalize_outputs(ir::Graph& graph) {
  std::vector<Node*> places;
  const auto enter = [&](Block& block) {
    if (block.last() != nullptr) places.push_back(block.last());
  };
  enter(graph.block());
  while (!places.empty()) {
    Node& node = *places.back();
    places.pop_back();
    if (node.is(NodeKind::kIf) || node.is(NodeKind::kLoop)) sort_outputs(node);
    if (node.previous() != nullptr) places.push_back(node.previous());
    // The first block is looked at first.
    for (size_t i = node.blocks().size(); i > 0; --i) enter(*node.block(i - 1));
  }
}

}  // namespace flambeau::script
