// Operators on constants become constants; branches and loops that never run go.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/effects.h"
#include "flambeau/script/passes/constant_key.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Block;
using ir::Graph;
using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

bool is_constant(const Value* value) { return value->node()->is(NodeKind::kConstant); }

const IValue* constant_of_kind(const Value* value, IValue::Tag tag) {
  const Node& node = *value->node();
  return node.is(NodeKind::kConstant) && node.constant.is(tag) ? &node.constant : nullptr;
}

// Texts that double with each line of a file would not fit into memory: what is longer is left to whoever
// runs it, with his limits. Tuples share their elements.
constexpr size_t kLongestText = size_t{1} << 20;

bool is_modest(const IValue& value) {
  return !value.is(IValue::Tag::kString) || value.as_string().size() <= kLongestText;
}

class Propagator {
 public:
  Propagator(const Unit& unit, const Evaluator& evaluator) : unit_(unit), evaluator_(evaluator) {}

  void propagate(Block& block) {
    if (++depth_ > ir::kMostBlockDepth) {
      throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
    }
    Node* next = nullptr;
    for (Node* node = block.first(); node != nullptr; node = next) {
      next = node->next();
      propagate(*node);
    }
    --depth_;
  }

  bool has_changed() const { return has_changed_; }

 private:
  void propagate(Node& node) {
    switch (node.kind()) {
      case NodeKind::kConstant:
        return;
      case NodeKind::kIf:
        if (const IValue* condition = constant_of_kind(node.input(0), IValue::Tag::kBool)) {
          Block& taken = *node.block(condition->as_bool() ? 0 : 1);
          propagate(taken);
          return inline_branch(node, taken);
        }
        for (Block* block : node.blocks()) propagate(*block);
        return remove_same_outputs(node);
      case NodeKind::kLoop:
        if (never_runs(node)) return remove_loop(node);
        propagate(*node.block(0));
        return remove_unchanged_outputs(node);
      default:
        for (Block* block : node.blocks()) propagate(*block);
        if (node.blocks().empty() && is_foldable(node)) fold(node);
    }
  }

  void inline_branch(Node& node, Block& taken) {
    while (taken.first() != nullptr) taken.first()->move_before(&node);
    for (size_t i = 0; i < node.outputs().size(); ++i) node.output(i)->replace_uses_with(taken.output(i));
    // Not left to others: the branch that is never taken may have effects.
    node.destroy();
    has_changed_ = true;
  }

  static bool never_runs(const Node& node) {
    const IValue* most = constant_of_kind(node.input(0), IValue::Tag::kInt);
    const IValue* condition = constant_of_kind(node.input(1), IValue::Tag::kBool);
    return (most != nullptr && most->as_int() <= 0) || (condition != nullptr && !condition->as_bool());
  }

  void remove_loop(Node& node) {
    for (size_t i = 0; i < node.outputs().size(); ++i) node.output(i)->replace_uses_with(node.input(i + 2));
    node.destroy();
    has_changed_ = true;
  }

  // Those for which both branches give the same.
  void remove_same_outputs(Node& node) {
    const Block& yes = *node.block(0);
    const Block& no = *node.block(1);
    std::vector<size_t> kept;
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      Value* a = yes.output(i);
      const Value* b = no.output(i);
      Value* same = nullptr;
      if (a == b) {
        same = a;
      } else if (is_constant(a) && is_constant(b) && a->type() == b->type() &&
                 are_same_constants(*a->node(), *b->node())) {
        Node* copy = node.graph().make(NodeKind::kConstant, {}, 0);
        copy->copy_fields(*a->node());
        copy->add_output(a->type());
        copy->insert_before(&node);
        same = copy->output();
      }
      if (same == nullptr) {
        kept.push_back(i);
      } else {
        node.output(i)->replace_uses_with(same);
      }
    }
    if (kept.size() == node.outputs().size()) return;
    node.reorder_outputs(kept);
    for (Block* block : node.blocks()) block->return_node()->reorder_inputs(kept);
    has_changed_ = true;
  }

  // Those that a turn gives on as it got them.
  void remove_unchanged_outputs(Node& node) {
    Block& body = *node.block(0);
    std::vector<size_t> outputs;
    std::vector<size_t> inner = {0};
    std::vector<size_t> inputs = {0, 1};
    // From the end to the beginning: one may be unchanged because a later one is.
    std::vector<bool> is_kept(node.outputs().size(), true);
    for (size_t i = node.outputs().size(); i > 0; --i) {
      Value* carried = body.input(i);
      if (carried != body.output(i)) continue;
      Value* before = node.input(i + 1);
      node.output(i - 1)->replace_uses_with(before);
      // The end of the body gives it on, too; that place goes.
      carried->replace_uses_with(before);
      is_kept[i - 1] = false;
    }
    for (size_t i = 0; i < is_kept.size(); ++i) {
      if (!is_kept[i]) continue;
      outputs.push_back(i);
      inner.push_back(i + 1);
      inputs.push_back(i + 2);
    }
    if (outputs.size() == node.outputs().size()) return;
    node.reorder_outputs(outputs);
    node.reorder_inputs(inputs);
    body.return_node()->reorder_inputs(inner);
    body.parameter_node()->reorder_outputs(inner);
    has_changed_ = true;
  }

  bool is_foldable(const Node& node) const {
    for (const Value* input : node.inputs()) {
      if (!is_constant(input) || !input->node()->name.empty() || is_mutable_type(&unit_, input->type())) {
        return false;
      }
    }
    for (const Value* output : node.outputs()) {
      if (is_mutable_type(&unit_, output->type())) return false;
    }
    switch (node.kind()) {
      case NodeKind::kOperator:
        return !node.op->schema.is_vararg && !node.op->schema.is_mutable() &&
               !has_side_effects(node.op->schema.name);
      case NodeKind::kTupleConstruct:
      case NodeKind::kTupleUnpack:
      case NodeKind::kTupleIndex:
      case NodeKind::kTupleSlice:
      case NodeKind::kIsInstance:
      case NodeKind::kUncheckedCast:
        return true;
      default:
        return false;
    }
  }

  std::optional<std::vector<IValue>> evaluate(const Node& node) const {
    std::vector<IValue> inputs;
    for (const Value* input : node.inputs()) inputs.push_back(input->node()->constant);
    std::vector<IValue> outputs;
    switch (node.kind()) {
      case NodeKind::kOperator:
        return evaluator_(*node.op, inputs);
      case NodeKind::kTupleConstruct:
        if (node.output()->type().is(TypeKind::kClass)) {
          const std::shared_ptr<Class> named = unit_.find_class(node.output()->type().name());
          if (named == nullptr) return {};
          outputs.push_back(IValue::named_tuple(std::move(inputs), named));
        } else {
          outputs.push_back(IValue::tuple(std::move(inputs)));
        }
        return outputs;
      case NodeKind::kIsInstance:
        outputs.emplace_back(false);
        for (const Type& type : node.types) {
          if (is_instance(&unit_, inputs[0], type)) outputs[0] = true;
        }
        return outputs;
      case NodeKind::kUncheckedCast:
        outputs.push_back(inputs[0]);
        return outputs;
      default:
        return take_out(node, inputs);
    }
  }

  static std::optional<std::vector<IValue>> take_out(const Node& node, const std::vector<IValue>& inputs) {
    if (!inputs[0].is(IValue::Tag::kTuple)) return {};
    const std::vector<IValue>& items = inputs[0].items();
    const auto size = static_cast<int64_t>(items.size());
    if (node.is(NodeKind::kTupleUnpack)) {
      if (items.size() != node.outputs().size()) return {};
      return items;
    }
    if (node.is(NodeKind::kTupleSlice)) {
      if (node.begin < 0 || node.begin > node.end || node.end > size) return {};
      return std::vector{IValue::tuple({items.begin() + node.begin, items.begin() + node.end})};
    }
    if (!inputs[1].is(IValue::Tag::kInt)) return {};
    const int64_t index = inputs[1].as_int();
    if (index < -size || index >= size) return {};
    return std::vector{items[static_cast<size_t>(index < 0 ? index + size : index)]};
  }

  void fold(Node& node) {
    const std::optional<std::vector<IValue>> outputs = evaluate(node);
    if (!outputs || outputs->size() != node.outputs().size()) return;
    for (const IValue& output : *outputs) {
      if (!is_modest(output)) return;
    }
    for (size_t i = 0; i < outputs->size(); ++i) {
      const IValue& value = (*outputs)[i];
      if (!can_be_constant(value)) continue;
      // None is of the type that the place wants.
      Node* constant =
          node.graph().make_constant(value, value.is_none() ? node.output(i)->type() : runtime_type(value));
      constant->frame = node.frame;
      constant->insert_before(&node);
      node.output(i)->replace_uses_with(constant->output());
      has_changed_ = true;
    }
  }

  const Unit& unit_;
  const Evaluator& evaluator_;
  bool has_changed_ = false;
  int depth_ = 0;
};

}  // namespace

bool propagate_constants(Graph& graph, const Unit& unit, const Evaluator& evaluator) {
  Propagator propagator(unit, evaluator);
  propagator.propagate(graph.block());
  if (propagator.has_changed()) eliminate_dead_code(graph);
  return propagator.has_changed();
}

}  // namespace flambeau::script
