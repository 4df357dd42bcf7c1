#include "flambeau/script/freeze/simplify.h"

#include <algorithm>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/rewrites/simplifications.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

const IValue* known_value(const Value* value) {
  const Node& node = *value->node();
  return node.is(NodeKind::kConstant) && node.name.empty() ? &node.constant : nullptr;
}

bool is_known_none(const Value* value) {
  const IValue* const known = known_value(value);
  return known != nullptr && known->is_none();
}

bool can_be_none(const Value* value) {
  if (const IValue* const known = known_value(value)) return known->is_none();
  switch (value->type().kind()) {
    case TypeKind::kOptional:
    case TypeKind::kUnion:
    case TypeKind::kNone:
    case TypeKind::kAny:
      return true;
    default:
      return false;
  }
}

// Whether the operator reads that argument alone, and neither gives it on nor keeps it.
bool only_reads(const Schema& schema, size_t index) {
  if (schema.is_vararg || index >= schema.arguments.size()) return false;
  const std::optional<AliasInfo>& alias = schema.arguments[index].alias;
  if (!alias) return true;
  if (alias->is_write || alias->after != alias->before) return false;
  return std::ranges::none_of(schema.returns, [&](const SchemaArgument& result) {
    return result.alias && result.alias->before == alias->before;
  });
}

// Whether the list is what it was made of wherever somebody looks.
bool is_never_changed(const Value& list) {
  return std::ranges::all_of(list.uses(), [](const ir::Use& use) {
    return use.user->is(NodeKind::kListUnpack) ||
           (use.user->is(NodeKind::kOperator) && only_reads(use.user->op->schema, use.index));
  });
}

class Simplifier {
 public:
  Simplifier(ir::Graph& graph, bool only_lists) : graph_(graph), only_lists_(only_lists) {}

  bool run() {
    ir::for_each_node(graph_.block(), [&](Node& node) { simplify(node); });
    return has_changed_;
  }

 private:
  void replace(Value* value, Value* by) {
    if (!value->has_uses()) return;
    value->replace_uses_with(by);
    has_changed_ = true;
  }
  void replace_by_constant(Node& node, IValue value, TypeKind type) {
    if (!node.output()->has_uses()) return;
    Node* const constant = graph_.make_constant(std::move(value), type);
    constant->range = node.range;
    constant->frame = node.frame;
    constant->insert_before(&node);
    replace(node.output(), constant->output());
  }

  void simplify(Node& node) {
    if (!only_lists_ && node.is(NodeKind::kUncheckedCast) && node.input(0)->type() == node.output()->type())
      return replace(node.output(), node.input(0));
    if (node.is(NodeKind::kListUnpack)) return unpack(node);
    if (node.is(NodeKind::kOperator) && node.outputs().size() == 1) call(node);
  }

  void unpack(Node& node) {
    const Value& list = *node.input(0);
    const Node& maker = *list.node();
    if (!maker.is(NodeKind::kListConstruct) || maker.inputs().size() != node.outputs().size() ||
        !is_never_changed(list))
      return;
    for (size_t i = 0; i < node.outputs().size(); ++i) replace(node.output(i), maker.input(i));
  }

  void call(Node& node) {
    const Simplification found = simplification_of(node.op->schema.name);
    const bool is_of_lists = found == Simplification::kListItem || found == Simplification::kLength ||
                             found == Simplification::kListSum;
    if (only_lists_ && !is_of_lists) return;
    switch (found) {
      case Simplification::kNone:
        return;
      case Simplification::kListSum:
        return sum(node);
      case Simplification::kDropout: {
        const IValue* const is_training = node.inputs().size() == 3 ? known_value(node.input(2)) : nullptr;
        if (is_training == nullptr || !is_training->is(IValue::Tag::kBool) || is_training->as_bool()) return;
        replace(node.output(), node.input(0));
        node.destroy();  // also one that says that it writes to its input
        has_changed_ = true;
        return;
      }
      case Simplification::kIs:
        return compare_none(node, false);
      case Simplification::kIsNot:
        return compare_none(node, true);
      case Simplification::kListItem:
        return item(node);
      case Simplification::kLength:
        if (const Node& maker = *node.input(0)->node();
            maker.is(NodeKind::kListConstruct) && is_never_changed(*node.input(0)))
          replace_by_constant(node, static_cast<int64_t>(maker.inputs().size()), TypeKind::kInt);
        return;
    }
  }

  void compare_none(Node& node, bool for_none) {
    if (node.inputs().size() != 2) return;
    const Value* const a = node.input(0);
    const Value* const b = node.input(1);
    if (is_known_none(a) && is_known_none(b)) return replace_by_constant(node, !for_none, TypeKind::kBool);
    if ((is_known_none(a) && !can_be_none(b)) || (is_known_none(b) && !can_be_none(a)))
      replace_by_constant(node, for_none, TypeKind::kBool);
  }

  void item(Node& node) {
    const Value& list = *node.input(0);
    const Node& maker = *list.node();
    const IValue* const index = known_value(node.input(1));
    if (!maker.is(NodeKind::kListConstruct) || index == nullptr || !index->is(IValue::Tag::kInt) ||
        !is_never_changed(list))
      return;
    const auto size = static_cast<int64_t>(maker.inputs().size());
    const int64_t at = index->as_int() < 0 ? index->as_int() + size : index->as_int();
    if (at < 0 || at >= size) return;  // it fails when it runs
    replace(node.output(), maker.input(static_cast<size_t>(at)));
  }

  void sum(Node& node) {
    if (node.inputs().size() != 2 || !node.output()->has_uses()) return;
    std::vector<Value*> items;
    for (const Value* list : node.inputs()) {
      const Node& maker = *list->node();
      if (!maker.is(NodeKind::kListConstruct) || !is_never_changed(*list)) return;
      items.insert(items.end(), maker.inputs().begin(), maker.inputs().end());
    }
    Node* const made = graph_.make(NodeKind::kListConstruct, items);
    made->output()->set_type(node.output()->type());
    made->range = node.range;
    made->frame = node.frame;
    made->insert_before(&node);
    replace(node.output(), made->output());
  }

  ir::Graph& graph_;
  bool only_lists_;
  bool has_changed_ = false;
};

}  // namespace

bool simplify_nodes(ir::Graph& graph) { return Simplifier(graph, false).run(); }
bool simplify_lists(ir::Graph& graph) { return Simplifier(graph, true).run(); }

}  // namespace flambeau::script
