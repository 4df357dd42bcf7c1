// Takes out what nothing depends on. Live are nodes with effects, what the graph returns, and all that these
// use; of a branch's or loop's outputs, only those that are used themselves.
#include <unordered_set>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/effects.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Block;
using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

bool has_effect(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kOperator:
      return node.outputs().empty() || node.op->schema.is_mutable() || has_side_effects(node.op->schema.name);
    case NodeKind::kPrint:
    case NodeKind::kRaiseException:
    case NodeKind::kCallFunction:
    case NodeKind::kCallMethod:
    case NodeKind::kEnter:
    case NodeKind::kExit:
    case NodeKind::kSetAttr:
    case NodeKind::kStore:
    case NodeKind::kReturnStatement:
    case NodeKind::kBreakStatement:
    case NodeKind::kContinueStatement:
    case NodeKind::kLoopContinuation:
      return true;
    default:
      return false;
  }
}

class Liveness {
 public:
  explicit Liveness(Block& block) {
    mark(block.return_node());
    ir::for_each_node(block, [&](Node& node) {
      if (has_effect(node)) mark(&node);
      if (node.is(NodeKind::kLoop)) mark_loop(node);
    });
    while (!waiting_.empty()) {
      const Value* value = waiting_.back();
      waiting_.pop_back();
      mark(value->node());
      mark_inside(*value);
    }
  }

  bool contains(const Node* node) const { return nodes_.contains(node); }

 private:
  void need(const Value* value) {
    if (values_.insert(value).second) waiting_.push_back(value);
  }

  // A node, all that it takes, and those that it is inside of.
  void mark(const Node* node) {
    for (; node != nullptr && nodes_.insert(node).second; node = node->block()->owner()) {
      // A block's own end takes what it gives only where that is needed outside.
      if (node->is(NodeKind::kReturn) && node->block()->owner() != nullptr) continue;
      for (const Value* input : node->inputs()) need(input);
    }
  }

  // What decides whether there is another turn, and what the next turn uses.
  void mark_loop(const Node& node) {
    const Block& body = *node.block(0);
    need(body.output(0));
    for (size_t i = 1; i < body.inputs().size(); ++i) {
      if (body.input(i)->has_uses()) need(body.output(i));
    }
  }

  // What an output of a node with blocks is made of.
  void mark_inside(const Value& value) {
    const Node& node = *value.node();
    for (const Block* block : node.blocks()) {
      const size_t place = value.index() + (node.is(NodeKind::kLoop) ? 1 : 0);
      if (place < block->outputs().size()) need(block->output(place));
    }
  }

  std::unordered_set<const Node*> nodes_;
  std::unordered_set<const Value*> values_;
  std::vector<const Value*> waiting_;
};

// The indices that are not gone, when some are.
std::vector<size_t> kept_of(const std::vector<bool>& is_gone, size_t offset) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < offset; ++i) kept.push_back(i);
  for (size_t i = 0; i < is_gone.size(); ++i) {
    if (!is_gone[i]) kept.push_back(i + offset);
  }
  return kept;
}

void remove_dead_outputs(Node& node) {
  const bool is_loop = node.is(NodeKind::kLoop);
  if (!is_loop && !node.is(NodeKind::kIf)) return;
  std::vector<bool> is_gone(node.outputs().size());
  bool is_any = false;
  for (size_t i = 0; i < is_gone.size(); ++i) {
    is_gone[i] = !node.output(i)->has_uses() && !(is_loop && node.block(0)->input(i + 1)->has_uses());
    is_any = is_any || is_gone[i];
  }
  if (!is_any) return;
  node.reorder_outputs(kept_of(is_gone, 0));
  for (Block* block : node.blocks()) block->return_node()->reorder_inputs(kept_of(is_gone, is_loop ? 1 : 0));
  if (!is_loop) return;
  node.reorder_inputs(kept_of(is_gone, 2));
  node.block(0)->parameter_node()->reorder_outputs(kept_of(is_gone, 1));
}

bool is_used(const Node& node) {
  for (const Value* output : node.outputs()) {
    if (output->has_uses()) return true;
  }
  return false;
}

void remove_dead_fork_inputs(Node& node) {
  Block& body = node.subgraph->block();
  std::vector<size_t> kept;
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    if (body.input(i)->has_uses()) kept.push_back(i);
  }
  if (kept.size() == body.inputs().size()) return;
  body.parameter_node()->reorder_outputs(kept);
  node.reorder_inputs(kept);
}

// From the end to the beginning; what is inside of a node after its outputs and before the node itself. No
// recursion: blocks may nest deep.
void sweep(Block& root, const Liveness& live) {
  struct Place {
    Block* block;
    Node* node;  // the next one to look at
    size_t blocks_done;
  };
  std::vector<Place> places = {{&root, root.last(), 0}};
  while (!places.empty()) {
    Place& place = places.back();
    if (place.node == nullptr) {
      places.pop_back();
      continue;
    }
    Node& node = *place.node;
    if (place.blocks_done == 0) remove_dead_outputs(node);
    if (place.blocks_done < node.blocks().size()) {
      Block* inner = node.block(place.blocks_done++);
      places.push_back({inner, inner->last(), 0});
      continue;
    }
    place.node = node.previous();
    place.blocks_done = 0;
    if (!live.contains(&node) && !is_used(node)) node.destroy();
  }
}

}  // namespace

void eliminate_dead_code(ir::Graph& graph) {
  ir::for_each_node(graph.block(), [](Node& node) {
    if (node.is(NodeKind::kFork) && node.subgraph != nullptr) remove_dead_fork_inputs(node);
  });
  const Liveness live(graph.block());
  sweep(graph.block(), live);
}

}  // namespace flambeau::script
