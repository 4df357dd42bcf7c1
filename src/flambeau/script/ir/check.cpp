// What holds for every graph that a pass is given, and that a pass must leave behind.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/graph.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::ir {

namespace {

std::string called(const Node& node) {
  if (node.is(NodeKind::kOperator)) return node.op != nullptr ? node.op->schema.name.to_string() : "?";
  return std::string(node_kind_name(node.kind()));
}

void need(bool holds, const Node& node, std::string_view what) {
  if (!holds) throw Error(ErrorCode::kInternal, fmt::format("graph: {}: {}", called(node), what));
}

// The value is made earlier, in this block or in one that the node is inside of.
bool is_visible(const Value& value, const Node& user) {
  const Block* home = value.node()->block();
  if (home == nullptr) return false;
  const Node* inside = &user;
  while (inside->block() != home) {
    inside = inside->block()->owner();
    if (inside == nullptr) return false;
  }
  return value.node()->is_before(inside);
}

void check_ends(const Node& node) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value& value = *node.input(i);
    need(&value.node()->graph() == &node.graph(), node, fmt::format("input {} is another graph's", i));
    need(is_visible(value, node), node,
         fmt::format("input {} '{}' is not visible", i, printable(value.name())));
    size_t count = 0;
    // A value with very many uses is looked at once for each of them otherwise.
    constexpr size_t kMostSearched = 64;
    if (value.uses().size() <= kMostSearched) {
      for (const Use& use : value.uses()) count += use.user == &node && use.index == i ? 1 : 0;
      need(count == 1, node, fmt::format("input {} is not among the value's uses", i));
    }
  }
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Value& value = *node.output(i);
    need(value.node() == &node && value.index() == i, node, fmt::format("output {} is not its own", i));
    for (const Use& use : value.uses()) {
      need(use.index < use.user->inputs().size() && use.user->input(use.index) == &value, node,
           fmt::format("output {} has a use that is none", i));
    }
  }
}

void check_if(const Node& node) {
  need(node.inputs().size() == 1 && node.blocks().size() == 2, node, "it needs a condition and two blocks");
  for (const Block* block : node.blocks()) {
    need(block->inputs().empty(), node, "its blocks have no inputs");
    need(block->outputs().size() == node.outputs().size(), node, "a block gives another number of values");
  }
}

void check_loop(const Node& node) {
  need(node.blocks().size() == 1, node, "it needs one block");
  const Block& body = *node.block(0);
  need(node.inputs().size() == node.outputs().size() + 2, node, "inputs and outputs do not match");
  need(body.inputs().size() == node.outputs().size() + 1, node, "the block's inputs do not match");
  need(body.outputs().size() == node.outputs().size() + 1, node, "the block's outputs do not match");
}

void check_node(const Node& node) {
  check_ends(node);
  const size_t inputs = node.inputs().size();
  const size_t outputs = node.outputs().size();
  switch (node.kind()) {
    case NodeKind::kIf:
      return check_if(node);
    case NodeKind::kLoop:
      return check_loop(node);
    case NodeKind::kOperator:
      need(node.op != nullptr, node, "it has no operator");
      need(node.op->schema.is_vararg || inputs == node.op->schema.arguments.size(), node,
           "another number of inputs than its schema");
      need(node.op->schema.is_varret || outputs == node.op->schema.returns.size(), node,
           "another number of outputs than its schema");
      return;
    case NodeKind::kConstant:
    case NodeKind::kUninitialized:
    case NodeKind::kCreateObject:
      return need(inputs == 0 && outputs == 1, node, "it takes nothing and gives one value");
    case NodeKind::kGetAttr:
    case NodeKind::kIsInstance:
    case NodeKind::kUncheckedCast:
    case NodeKind::kTupleSlice:
      return need(inputs == 1 && outputs == 1, node, "it takes one value and gives one");
    case NodeKind::kTupleIndex:
      return need(inputs == 2 && outputs == 1, node, "it takes two values and gives one");
    case NodeKind::kSetAttr:
      return need(inputs == 2 && outputs == 0, node, "it takes two values and gives none");
    case NodeKind::kDictConstruct:
      return need(inputs % 2 == 0 && outputs == 1, node, "it takes pairs and gives one value");
    case NodeKind::kTupleConstruct:
    case NodeKind::kListConstruct:
      return need(outputs == 1, node, "it gives one value");
    case NodeKind::kCallMethod:
    case NodeKind::kCallFunction:
      return need(inputs >= 1 && outputs == 1, node, "it takes what it calls and gives one value");
    case NodeKind::kFork:
    case NodeKind::kAwaitable:
      need(node.subgraph != nullptr, node, "it has no graph");
      return need(inputs == node.subgraph->inputs().size() && outputs == 1, node,
                  "inputs or outputs do not match its graph");
    default:
      return;
  }
}

}  // namespace

void Graph::check() const {
  const auto check_block = [](const Block& block) {
    check_ends(*block.parameter_node());
    check_ends(*block.return_node());
    const Node* previous = nullptr;
    for (const Node* node = block.first(); node != nullptr; node = node->next()) {
      need(node->block() == &block && node->previous() == previous, *node, "it is not where it says");
      need(previous == nullptr || previous->is_before(node), *node, "it is numbered before its neighbour");
      previous = node;
    }
    need(block.last() == previous, *block.return_node(), "the last node is another one");
  };
  check_block(block());
  for_each_node(block(), [&](const Node& node) {
    check_node(node);
    need(&node.graph() == this, node, "it is another graph's");
    for (const Block* inner : node.blocks()) {
      need(inner->owner() == &node, node, "a block is another node's");
      check_block(*inner);
    }
    if (node.subgraph != nullptr) node.subgraph->check();
  });
  need(insert_point_->block() != nullptr, *insert_point_, "the insert point stands nowhere");
}

}  // namespace flambeau::script::ir
