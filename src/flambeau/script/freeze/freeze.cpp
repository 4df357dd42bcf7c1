#include "flambeau/script/freeze/freeze.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "flambeau/base/error.h"
#include "flambeau/script/freeze/attributes.h"
#include "flambeau/script/freeze/rebuild.h"
#include "flambeau/script/freeze/simplify.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/evaluate.h"
#include "flambeau/script/passes/constant_key.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

using ir::Graph;
using ir::Node;
using ir::NodeKind;

namespace {

// One change makes others possible; a few rounds find nearly all of them.
constexpr int kMostRounds = 8;
// Longer lists are read where they are.
constexpr size_t kMostListItems = 1024;

bool is_list_of_constants(const IValue& value) {
  return value.is(IValue::Tag::kList) && value.items().size() <= kMostListItems &&
         std::ranges::all_of(value.items(), can_be_constant);
}

class Freezer {
 public:
  Freezer(Unit& unit, const IValue& module)
      : unit_(unit), module_(module), type_(*module.as_object().type), use_(module) {}

  IValue run(std::span<const std::string> preserved) {
    check();
    if (type_.find_method("forward") != nullptr) add_method("forward");
    for (const std::string& name : preserved) keep(name);
    if (methods_.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} has no method forward", printable(type_.qualified_name())),
                  "name the methods that are to stay");
    }
    inline_methods();
    // Numbers first: branches that they decide may write to tensors.
    for (const bool with_tensors : {false, true}) {
      use_.look(graphs());
      for (const std::shared_ptr<Graph>& graph : graphs()) fold_attributes(*graph, with_tensors);
      for (const std::shared_ptr<Graph>& graph : graphs()) clean(*graph);
    }
    use_.look(graphs());
    return rebuild_module(unit_, module_, use_, methods_);
  }

 private:
  void check() const {
    if (!type_.is_module()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} is no module, and cannot be frozen", printable(type_.qualified_name())));
    }
    const std::optional<size_t> slot = type_.find_attribute("training");
    const IValue* const training = slot ? &module_.as_object().slots.at(*slot) : nullptr;
    if (training != nullptr && training->is(IValue::Tag::kBool) && training->as_bool()) {
      throw Error(ErrorCode::kInvalidArgument, "a module in training mode cannot be frozen",
                  "call eval() first");
    }
    if (!type_.forward_hooks.empty() || !type_.forward_pre_hooks.empty()) {
      throw Error(ErrorCode::kUnsupported, fmt::format("{} has hooks, which frozen modules do not",
                                                       printable(type_.qualified_name())));
    }
  }

  void add_method(std::string_view name) {
    for (const FrozenMethod& method : methods_) {
      if (method.name == name) return;
    }
    const std::shared_ptr<Function>* const found = type_.find_method(name);
    methods_.push_back({std::string(name), (*found)->signature(), (*found)->graph()->copy()});
  }

  std::vector<std::shared_ptr<Graph>> graphs() const {
    std::vector<std::shared_ptr<Graph>> found;
    for (const FrozenMethod& method : methods_) found.push_back(method.graph);
    return found;
  }

  // A method, or an attribute by its dotted path.
  void keep(const std::string& name) {
    if (type_.find_method(name) != nullptr) return add_method(name);
    IValue object = module_;
    std::string_view left = name;
    while (true) {
      const size_t dot = std::min(left.find('.'), left.size());
      const std::optional<size_t> slot = object.as_object().type->find_attribute(left.substr(0, dot));
      if (!slot) {
        throw Error(ErrorCode::kNotFound, fmt::format("{} has no method or attribute '{}'",
                                                      printable(type_.qualified_name()), printable(name)));
      }
      const IValue value = object.as_object().slots.at(*slot);
      if (dot == left.size()) {
        use_.keep({&object.as_object(), *slot});
        if (value.is(IValue::Tag::kObject)) use_.keep_all(value);
        return;
      }
      use_.need({&object.as_object(), *slot});
      left.remove_prefix(dot + 1);
      if (!value.is(IValue::Tag::kObject)) {
        throw Error(ErrorCode::kNotFound,
                    fmt::format("'{}' leads through something that is no object", printable(name)));
      }
      object = value;
    }
  }

  // Behind an interface is an object that is known, whose methods can be inlined as others.
  void inline_methods() {
    for (int round = 0;; ++round) {
      for (const std::shared_ptr<Graph>& graph : graphs()) {
        inline_calls(*graph, unit_);
        eliminate_dead_code(*graph);
      }
      use_.look(graphs());
      bool has_changed = false;
      for (const std::shared_ptr<Graph>& graph : graphs()) has_changed = name_classes(*graph) || has_changed;
      if (!has_changed) return;
      if (round == ir::kMostBlockDepth) throw Error(ErrorCode::kLimit, "interfaces are nested too deep");
    }
  }

  bool name_classes(Graph& graph) const {
    bool has_changed = false;
    ir::for_each_node(graph.block(), [&](const Node& node) {
      if (!node.is(NodeKind::kGetAttr) || !node.output()->type().is(TypeKind::kClass)) return;
      const std::shared_ptr<Class> declared = unit_.find_class(node.output()->type().name());
      if (declared == nullptr || !declared->is_interface()) return;
      // Its methods are called, so that it is whole so far; a slot that is stored to is not.
      const IValue* const value = use_.value_read(node);
      if (value == nullptr || !value->is(IValue::Tag::kObject) || use_.is_stored(use_.slot_of(node))) return;
      node.output()->set_type(value->as_object().type->type());
      has_changed = true;
    });
    return has_changed;
  }

  void fold_attributes(Graph& graph, bool with_tensors) {
    ir::for_each_node(graph.block(), [&](Node& node) {
      if (!node.is(NodeKind::kGetAttr) || !node.output()->has_uses()) return;
      const Slot slot = use_.slot_of(node);
      if (slot.first == nullptr || (with_tensors ? use_.is_changed(slot) : use_.is_stored(slot))) return;
      const IValue& value = slot.first->slots[slot.second];
      Node* const constant = constant_of(graph, node, value, with_tensors);
      if (constant == nullptr) return;
      constant->frame = node.frame;
      constant->range = node.range;
      constant->insert_before(&node);
      node.output()->replace_uses_with(constant->output());
    });
  }

  // Null for what stays an attribute.
  static Node* constant_of(Graph& graph, Node& node, const IValue& value, bool with_tensors) {
    if (can_be_constant(value))
      return graph.make_constant(value, value.is_none() ? node.output()->type() : runtime_type(value));
    if (!with_tensors) return nullptr;
    if (value.is(IValue::Tag::kTensor)) {
      Tensor tensor = value.as_tensor();
      tensor.set_requires_grad(false);
      return graph.make_constant(std::move(tensor), TypeKind::kTensor);
    }
    if (!is_list_of_constants(value)) return nullptr;
    std::vector<ir::Value*> items;
    for (const IValue& item : value.items()) {
      Node* const constant = graph.make_constant(item, runtime_type(item));
      constant->insert_before(&node);
      items.push_back(constant->output());
    }
    Node* const list = graph.make(NodeKind::kListConstruct, items);
    list->output()->set_type(node.output()->type());
    return list;
  }

  void clean(Graph& graph) const {
    for (int round = 0; round < kMostRounds; ++round) {
      lower_simple_tuples(graph);
      bool has_changed = simplify_nodes(graph);
      has_changed =
          propagate_constants(graph, unit_, unit_.evaluator() ? unit_.evaluator() : evaluate_operator) ||
          has_changed;
      eliminate_dead_code(graph);
      if (!has_changed) break;
    }
    pool_constants(graph);
    graph.set_insert_point(graph.block());
  }

  Unit& unit_;
  IValue module_;
  const Class& type_;
  AttributeUse use_;
  std::vector<FrozenMethod> methods_;
};

}  // namespace

IValue freeze_module(Unit& unit, const IValue& module, std::span<const std::string> preserved) {
  return Freezer(unit, module).run(preserved);
}

}  // namespace flambeau::script
