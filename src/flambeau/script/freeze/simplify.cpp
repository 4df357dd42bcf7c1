#include "flambeau/script/freeze/simplify.h"

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/rewrites/simplifications.h"
#include "flambeau/script/passes/passes.h"
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

class Simplifier {
 public:
  explicit Simplifier(ir::Graph& graph) : graph_(graph) {}

  bool run() {
    ir::for_each_node(graph_.block(), [&](Node& node) { simplify(node); });
    return use_known_containers(graph_) || has_changed_;
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
    if (node.is(NodeKind::kUncheckedCast) && node.input(0)->type() == node.output()->type())
      return replace(node.output(), node.input(0));
    if (node.is(NodeKind::kOperator) && node.outputs().size() == 1) call(node);
  }

  void call(Node& node) {
    switch (simplification_of(node.op->schema.name)) {
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
      default:
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

  ir::Graph& graph_;
  bool has_changed_ = false;
};

}  // namespace

bool simplify_nodes(ir::Graph& graph) { return Simplifier(graph).run(); }

}  // namespace flambeau::script
