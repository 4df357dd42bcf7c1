// What is taken out of lists and dicts that were made of known values and never changed: lengths, elements,
// parts and sums.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/rewrites/simplifications.h"
#include "flambeau/script/passes/alias_classes.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

using ir::Node;
using ir::NodeKind;
using ir::Value;

const IValue* known_value(const Value& value) {
  const Node& node = *value.node();
  return node.is(NodeKind::kConstant) && node.name.empty() ? &node.constant : nullptr;
}

class ContainerPass {
 public:
  explicit ContainerPass(ir::Graph& graph) : graph_(graph), written_(graph) {}

  bool run() {
    ir::for_each_node(graph_.block(), [&](Node& node) {
      if (node.is(NodeKind::kListUnpack)) unpack(node);
      if (node.is(NodeKind::kOperator) && node.outputs().size() == 1) call(node);
    });
    return has_changed_;
  }

 private:
  // The node that made it, when nothing changes it; else null.
  const Node* maker_of(const Value& container, NodeKind kind) const {
    const Node& maker = *container.node();
    if (!maker.is(kind)) return nullptr;
    const auto made = made_.find(&container);
    const bool is_changed = made == made_.end() ? written_.may_be_written(&container) : made->second;
    return is_changed ? nullptr : &maker;
  }
  void replace(Value* value, Value* by) {
    if (!value->has_uses()) return;
    value->replace_uses_with(by);
    has_changed_ = true;
  }
  void replace_by_length(Node& node, size_t length) {
    if (!node.output()->has_uses()) return;
    Node* const constant = graph_.make_constant(static_cast<int64_t>(length), TypeKind::kInt);
    constant->range = node.range;
    constant->frame = node.frame;
    constant->insert_before(&node);
    replace(node.output(), constant->output());
  }
  void replace_by_list(Node& node, const std::vector<Value*>& items) {
    if (!node.output()->has_uses()) return;
    Node* const made = graph_.make(NodeKind::kListConstruct, items);
    made->output()->set_type(node.output()->type());
    made->range = node.range;
    made->frame = node.frame;
    made->insert_before(&node);
    made_[made->output()] = written_.may_be_written(node.output());
    replace(node.output(), made->output());
  }

  void unpack(Node& node) {
    const Node* const maker = maker_of(*node.input(0), NodeKind::kListConstruct);
    if (maker == nullptr || maker->inputs().size() != node.outputs().size()) return;
    for (size_t i = 0; i < node.outputs().size(); ++i) replace(node.output(i), maker->input(i));
  }

  void call(Node& node) {
    switch (simplification_of(node.op->schema.name)) {
      case Simplification::kListItem:
        return item(node);
      case Simplification::kLength:
        if (const Node* const maker = maker_of(*node.input(0), NodeKind::kListConstruct))
          replace_by_length(node, maker->inputs().size());
        return;
      case Simplification::kListSum:
        return sum(node);
      case Simplification::kListPart:
        return part(node);
      case Simplification::kDictItem:
        return dict_item(node);
      case Simplification::kDictLength:
        if (const std::optional<size_t> count = known_keys(*node.input(0))) replace_by_length(node, *count);
        return;
      default:
        return;
    }
  }

  void item(Node& node) {
    const Node* const maker = maker_of(*node.input(0), NodeKind::kListConstruct);
    const IValue* const index = known_value(*node.input(1));
    if (maker == nullptr || index == nullptr || !index->is(IValue::Tag::kInt)) return;
    const auto size = static_cast<int64_t>(maker->inputs().size());
    const int64_t at = index->as_int() < 0 ? index->as_int() + size : index->as_int();
    if (at < 0 || at >= size) return;  // it fails when it runs
    replace(node.output(), maker->input(static_cast<size_t>(at)));
  }

  void sum(Node& node) {
    if (node.inputs().size() != 2) return;
    std::vector<Value*> items;
    for (const Value* list : node.inputs()) {
      const Node* const maker = maker_of(*list, NodeKind::kListConstruct);
      if (maker == nullptr) return;
      items.insert(items.end(), maker->inputs().begin(), maker->inputs().end());
    }
    replace_by_list(node, items);
  }

  void part(Node& node) {
    const Node* const maker = maker_of(*node.input(0), NodeKind::kListConstruct);
    if (maker == nullptr || node.inputs().size() != 4) return;
    std::optional<int64_t> bounds[3];
    for (size_t i = 0; i < 3; ++i) {
      const IValue* const known = known_value(*node.input(i + 1));
      if (known == nullptr || (!known->is_none() && !known->is(IValue::Tag::kInt))) return;
      if (!known->is_none()) bounds[i] = known->as_int();
    }
    const int64_t step = bounds[2].value_or(1);
    if (step <= 0) return;
    const auto size = static_cast<int64_t>(maker->inputs().size());
    const auto clamp = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, int64_t{0}, size); };
    const int64_t end = clamp(bounds[1].value_or(size));
    std::vector<Value*> items;
    for (int64_t at = clamp(bounds[0].value_or(0)); at<end; at = step> end - at ? end : at + step)
      items.push_back(maker->input(static_cast<size_t>(at)));
    replace_by_list(node, items);
  }

  // How many keys an unchanged dict has; none where they are not known, or one is there twice.
  std::optional<size_t> known_keys(const Value& dict) const {
    const Node* const maker = maker_of(dict, NodeKind::kDictConstruct);
    if (maker == nullptr) return std::nullopt;
    const TypeKind kind = dict.type().elements()[0].kind();
    if (kind != TypeKind::kInt && kind != TypeKind::kFloat && kind != TypeKind::kString) return std::nullopt;
    DictItems seen;
    for (size_t i = 0; i < maker->inputs().size(); i += 2) {
      const IValue* const key = known_value(*maker->input(i));
      if (key == nullptr || seen.find(*key) != nullptr) return std::nullopt;
      seen.set(*key, IValue());
    }
    return seen.size();
  }

  void dict_item(Node& node) {
    const IValue* const wanted = known_value(*node.input(1));
    if (wanted == nullptr || !known_keys(*node.input(0))) return;
    const Node& maker = *node.input(0)->node();
    for (size_t i = 0; i < maker.inputs().size(); i += 2) {
      if (equal_keys(*known_value(*maker.input(i)), *wanted))
        return replace(node.output(), maker.input(i + 1));
    }
  }

  ir::Graph& graph_;
  WrittenValues written_;
  std::unordered_map<const Value*, bool> made_;  // lists that this made, and whether something changes them
  bool has_changed_ = false;
};

}  // namespace

bool use_known_containers(ir::Graph& graph) { return ContainerPass(graph).run(); }

}  // namespace flambeau::script
