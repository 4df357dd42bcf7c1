// Helps with exits: blocks between kEnter and kExit, and ifs that follow each other.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/passes/passes.h"

namespace flambeau::script {

using ir::Block;
using ir::Graph;
using ir::Node;
using ir::NodeKind;
using ir::Value;

void add_with_blocks(Graph& graph) {
  std::vector<Node*> entered;
  std::vector<std::pair<Node*, Node*>> pairs;
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (node.is(NodeKind::kEnter)) entered.push_back(&node);
    if (!node.is(NodeKind::kExit)) return;
    if (entered.empty() || entered.back()->block() != node.block()) {
      throw Error(ErrorCode::kInternal, "a 'with' ends where it did not begin");
    }
    pairs.emplace_back(entered.back(), &node);
    entered.pop_back();
  });
  if (!entered.empty()) throw Error(ErrorCode::kInternal, "a 'with' does not end");
  // Inner ones were found first.
  for (const auto& [enter, exit] : pairs) {
    Node* with = graph.make(NodeKind::kWith, {}, 0);
    Block* body = with->add_block();
    Block* end = with->add_block();
    while (enter->next() != exit) enter->next()->move_before(body->return_node());
    exit->move_before(end->return_node());
    with->insert_after(enter);
  }
}

void remove_with_blocks(Graph& graph) {
  std::vector<Node*> found;
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (node.is(NodeKind::kWith)) found.push_back(&node);
  });
  for (Node* with : found) {
    for (Block* block : with->blocks()) {
      while (block->first() != nullptr) block->first()->move_before(with);
    }
    with->destroy();
  }
}

namespace {

// The constant that a branch gives for an output, when it is one of truth.
const IValue* constant_truth(const Block& block, size_t output) {
  const Node& node = *block.output(output)->node();
  return node.is(NodeKind::kConstant) && node.constant.is(IValue::Tag::kBool) ? &node.constant : nullptr;
}

// What is inside of the second one that takes outputs of the first takes what the branch gives for them.
void replace_outputs_inside(const Node& first, const Block& branch, Block& moved) {
  const auto replace = [&](Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Value* input = node.input(i);
      if (input->node() == &first) node.replace_input(i, branch.output(input->index()));
    }
  };
  ir::for_each_node(moved, [&](Node& node) {
    replace(node);
    for (Block* inner : node.blocks()) replace(*inner->return_node());
  });
  replace(*moved.return_node());
}

bool merge_with_next(Node& first) {
  Node* second = first.next();
  if (!first.is(NodeKind::kIf) || second == nullptr || !second->is(NodeKind::kIf)) return false;
  if (second->input(0)->node() != &first) return false;
  const size_t decisive = second->input(0)->index();
  const IValue* yes = constant_truth(*first.block(0), decisive);
  const IValue* no = constant_truth(*first.block(1), decisive);
  if (yes == nullptr || no == nullptr || yes->as_bool() == no->as_bool()) return false;
  // Each branch of the second goes into one of the first.
  for (size_t i = 0; i < 2; ++i) {
    Block& target = *first.block(i);
    Block& moved = *second->block((i == 0 ? yes : no)->as_bool() ? 0 : 1);
    replace_outputs_inside(first, target, moved);
    while (moved.first() != nullptr) moved.first()->move_before(target.return_node());
    for (Value* output : moved.outputs()) target.add_output(output);
  }
  for (Value* output : second->outputs()) {
    Value* merged = first.add_output(output->type());
    if (output->has_name()) merged->set_name(output->name());
    output->replace_uses_with(merged);
  }
  second->destroy();
  return true;
}

// From `start` on, whose own blocks may have been looked at before.
void merge_ifs(Node* start, bool is_start_done, int depth) {
  if (depth > ir::kMostBlockDepth) {
    throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
  }
  for (Node* node = start; node != nullptr; node = node->next()) {
    if (node != start || !is_start_done) {
      for (Block* inner : node->blocks()) merge_ifs(inner->first(), false, depth + 1);
    }
    while (true) {
      // Where what was merged begins, there may be two of them in a row again.
      std::vector<Node*> seams;
      for (const Block* inner : node->blocks()) seams.push_back(inner->last());
      if (!merge_with_next(*node)) break;
      for (size_t i = 0; i < seams.size(); ++i) {
        Block& inner = *node->block(i);
        merge_ifs(seams[i] != nullptr ? seams[i] : inner.first(), seams[i] != nullptr, depth + 1);
      }
    }
  }
}

}  // namespace

void merge_consecutive_ifs(Block& block) { merge_ifs(block.first(), false, 1); }

}  // namespace flambeau::script
