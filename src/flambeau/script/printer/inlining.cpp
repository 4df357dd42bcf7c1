#include "flambeau/script/printer/inlining.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau::script {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Value;

bool can_inline(const Value& value) {
  const Node& node = *value.node();
  if (node.outputs().size() != 1 || value.uses().size() != 1 || !node.blocks().empty()) return false;
  const ir::Use& use = value.uses().front();
  // A name was written by a person, and is kept; but not only to be returned.
  if (value.has_name() && !use.user->is(NodeKind::kReturn)) return false;
  // What a loop carries needs a variable: conditions and counts could come in the wrong order otherwise.
  if (use.user->is(NodeKind::kLoop) && use.index >= 2) return false;
  // Its graph may use it more often.
  if (use.user->is(NodeKind::kFork)) return false;
  // In a condition it would refine types when it is read again; the casts for that are there already.
  return !node.is(NodeKind::kIsInstance);
}

}  // namespace

bool Inlining::is_free(const Node& node) const {
  return node.is(NodeKind::kConstant) || (is_free_ && is_free_(node));
}

// The beginning of a block comes before its first node; before that is nothing.
const Node* Inlining::previous_that_counts(const Node& node) const {
  if (node.is(NodeKind::kParameters)) return nullptr;
  const Node* previous = node.is(NodeKind::kReturn) ? node.block()->last() : node.previous();
  while (previous != nullptr && is_free(*previous)) previous = previous->previous();
  return previous != nullptr ? previous : node.block()->parameter_node();
}

void Inlining::scan(const ir::Block& block) {
  if (++depth_ > ir::kMostBlockDepth) {
    throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
  }
  scan_node(*block.return_node());
  for (const Node* node = block.last(); node != nullptr; node = node->previous()) scan_node(*node);
  --depth_;
}

void Inlining::scan_node(const Node& root) {
  if (contains(&root)) return;
  for (const ir::Block* block : root.blocks()) scan(*block);
  // Operands from the right to the left, each with its own operands before the next one; `expected` is the
  // node that is next in the block, read backwards.
  struct Pending {
    const Node* node;
    size_t inputs_left;
  };
  std::vector<Pending> stack = {{&root, root.inputs().size()}};
  const Node* expected = previous_that_counts(root);
  while (!stack.empty()) {
    Pending& top = stack.back();
    if (top.inputs_left == 0) {
      if (top.node != &root) nodes_.insert(top.node);
      stack.pop_back();
      continue;
    }
    const Value& value = *top.node->input(--top.inputs_left);
    const Node* node = value.node();
    if (is_free(*node)) {
      nodes_.insert(node);
    } else if (node == expected && can_inline(value)) {
      expected = previous_that_counts(*node);
      stack.push_back({node, node->inputs().size()});
    }
  }
}

}  // namespace flambeau::script
