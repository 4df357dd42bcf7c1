// Takes out what nothing depends on. Live are nodes with effects, what the graph returns, and all that these
// use; of a branch's or loop's outputs, only those that are used themselves.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/effects.h"
#include "flambeau/script/passes/alias_classes.h"
#include "flambeau/script/passes/constant_key.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Block;
using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

// That is seen outside of the graph, whatever becomes of its outputs. What it writes to is another question.
bool has_effect(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kOperator:
      return has_side_effects(node.op->schema.name) ||
             (node.outputs().empty() && !node.op->schema.is_mutable());
    case NodeKind::kPrint:
    case NodeKind::kRaiseException:
    case NodeKind::kCallFunction:
    case NodeKind::kCallMethod:
    case NodeKind::kEnter:
    case NodeKind::kExit:
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

// Marks what is live, from the end to the beginning: so a write counts when something live comes behind it
// that may see it. In a loop that may be anything in the loop; its body is looked at until nothing changes.
class Liveness {
 public:
  explicit Liveness(const ir::Graph& graph) : classes_(graph) {
    ir::for_each_node(graph.block(), [&](const Node& node) {
      if (!has_effect(node) && !writes_to_shared(node)) return;
      const Node* outer = &node;
      while (outer != nullptr && effects_.insert(outer).second) outer = outer->block()->owner();
    });
    mark(graph.block().return_node());
    mark_block(graph.block());
  }

  bool contains(const Node* node) const { return nodes_.contains(node); }

 private:
  void need(const Value* value) {
    if (!values_.insert(value).second || !is_mutable_type(nullptr, value->type())) return;
    std::vector<size_t> waiting = {classes_.find(value)};
    while (!waiting.empty()) {
      const size_t found = waiting.back();
      waiting.pop_back();
      if (!live_classes_.insert(found).second) continue;
      const std::vector<size_t> inside = classes_.contained(found);
      waiting.insert(waiting.end(), inside.begin(), inside.end());
    }
  }

  // A node, all that it takes, and those that it is inside of.
  bool mark(const Node* node) {
    if (!nodes_.insert(node).second) return false;
    for (const Value* input : node->inputs()) need(input);
    const Node* owner = node->block()->owner();
    if (owner != nullptr) mark(owner);
    return true;
  }

  bool writes_to_shared(const Node& node) const {
    return std::ranges::any_of(AliasClasses::written_by(node),
                               [&](const Value* value) { return classes_.is_shared(classes_.find(value)); });
  }

  bool is_live(const Node& node) const {
    for (const Value* output : node.outputs()) {
      if (values_.contains(output)) return true;
    }
    return std::ranges::any_of(AliasClasses::written_by(node), [&](const Value* value) {
      return must_keep_writes_ || live_classes_.contains(classes_.find(value));
    });
  }

  // Of what a block gives, that which is needed outside, or by the next turn.
  bool mark_end(const Block& block) {
    const Node* owner = block.owner();
    if (owner == nullptr) return false;
    const size_t before = values_.size();
    if (owner->is(NodeKind::kLoop)) {
      need(block.output(0));
      for (size_t i = 0; i < owner->outputs().size(); ++i) {
        if (values_.contains(owner->output(i)) || block.input(i + 1)->has_uses()) need(block.output(i + 1));
      }
    } else {
      for (size_t i = 0; i < owner->outputs().size() && i < block.outputs().size(); ++i) {
        if (values_.contains(owner->output(i))) need(block.output(i));
      }
    }
    return values_.size() != before;
  }

  bool mark_loop(const Node& node) {
    // An outer loop comes back to this one.
    if (is_in_loop_) return mark_block(*node.block(0));
    is_in_loop_ = true;
    bool is_any = false;
    constexpr int kMostTurns = 64;
    for (int turn = 0; mark_block(*node.block(0)); ++turn) {
      is_any = true;
      // Enough of looking for the least: what is kept without need does no harm.
      must_keep_writes_ = must_keep_writes_ || turn > kMostTurns;
    }
    must_keep_writes_ = false;
    is_in_loop_ = false;
    return is_any;
  }

  // Whether it marked anything.
  bool mark_block(const Block& block) {
    if (++depth_ > ir::kMostBlockDepth) {
      throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
    }
    bool is_any = false;
    for (const Node* node = block.first(); node != nullptr; node = node->next()) {
      if (effects_.contains(node)) is_any = mark(node) || is_any;
    }
    is_any = mark_end(block) || is_any;
    for (const Node* node = block.last(); node != nullptr; node = node->previous()) {
      if (node->is(NodeKind::kLoop)) {
        is_any = mark_loop(*node) || is_any;
      } else {
        for (const Block* inner : node->blocks()) is_any = mark_block(*inner) || is_any;
      }
      if (!nodes_.contains(node) && is_live(*node)) is_any = mark(node) || is_any;
    }
    --depth_;
    return is_any;
  }

  AliasClasses classes_;
  std::unordered_set<const Node*> effects_;  // that have effects, or such nodes inside
  std::unordered_set<const Node*> nodes_;
  std::unordered_set<const Value*> values_;
  std::unordered_set<size_t> live_classes_;
  bool is_in_loop_ = false;
  bool must_keep_writes_ = false;
  int depth_ = 0;
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
  const Liveness live(graph);
  sweep(graph.block(), live);
}

}  // namespace flambeau::script
