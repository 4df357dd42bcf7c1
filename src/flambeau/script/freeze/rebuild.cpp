#include "flambeau/script/freeze/rebuild.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/walk.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;

namespace {

constexpr std::string_view kMangled = "___torch_mangle_";

// "__torch__.a.M" becomes "__torch__.a.___torch_mangle_3.M": the first one that is free.
std::string free_name(const Unit& unit, std::string_view taken) {
  const size_t dot = taken.rfind('.');
  const std::string_view last = taken.substr(dot == std::string_view::npos ? 0 : dot + 1);
  std::string_view before =
      dot == std::string_view::npos ? std::string_view("__torch__") : taken.substr(0, dot);
  const size_t atom = before.rfind('.');
  if (atom != std::string_view::npos && before.substr(atom + 1).starts_with(kMangled))
    before = before.substr(0, atom);
  for (size_t number = 0;; ++number) {
    std::string name = fmt::format("{}.{}{}.{}", before, kMangled, number, last);
    if (unit.find_class(name) == nullptr) return name;
  }
}

class Rebuilder {
 public:
  Rebuilder(Unit& unit, const IValue& module, const AttributeUse& use)
      : unit_(unit), root_(&module.as_object()), use_(use) {
    if (use.is_whole(root_)) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("{} is given to something that is not known, and cannot be frozen",
                              printable(root_->type->qualified_name())));
    }
  }

  IValue run(const std::vector<FrozenMethod>& methods) {
    for (const FrozenMethod& method : methods) note_slots(*method.graph);
    IValue made = object_for(root_, 0);
    for (const FrozenMethod& method : methods) add_method(method);
    return made;
  }

 private:
  void note_slots(const ir::Graph& graph) {
    ir::for_each_node(graph.block(), [&](const Node& node) {
      if (!node.is(NodeKind::kGetAttr) && !node.is(NodeKind::kSetAttr)) return;
      const Slot slot = use_.slot_of(node);
      if (slot.first != nullptr) used_.insert(slot);
    });
  }

  // The slots that are used or were asked for, in a class of their own.
  IValue object_for(const ObjectBox* old, int depth) {
    constexpr int kMostObjectDepth = 1000;
    if (depth > kMostObjectDepth) throw Error(ErrorCode::kLimit, "modules are nested too deep");
    if (const auto found = made_.find(old); found != made_.end()) return found->second;
    const auto type =
        std::make_shared<Class>(old->type->kind(), free_name(unit_, old->type->qualified_name()));
    std::vector<size_t> slots;
    for (size_t i = 0; i < old->slots.size(); ++i) {
      if (used_.contains({old, i}) || use_.is_needed({old, i})) slots.push_back(i);
    }
    unit_.add(type);
    for (const size_t slot : slots) type->attributes.push_back(old->type->attributes.at(slot));
    const IValue made = IValue::object(type);
    made_.emplace(old, made);
    for (size_t i = 0; i < slots.size(); ++i) {
      const IValue& value = old->slots[slots[i]];
      const bool is_remade = value.is(IValue::Tag::kObject) && !use_.is_whole(&value.as_object()) &&
                             !use_.is_stored({old, slots[i]});
      made.as_object().slots[i] = is_remade ? object_for(&value.as_object(), depth + 1) : value;
      if (is_remade) type->attributes[i].type = made.as_object().slots[i].as_object().type->type();
    }
    return made;
  }

  void add_method(const FrozenMethod& method) {
    ir::Graph& graph = *method.graph;
    const std::shared_ptr<const Class>& type = made_.at(root_).as_object().type;
    graph.inputs()[0]->set_type(type->type());
    ir::for_each_node(graph.block(), [&](const Node& node) {
      if (!node.is(NodeKind::kGetAttr)) return;
      const ObjectBox* const object = use_.object_of(node.output());
      const auto made = made_.find(object);
      if (made != made_.end()) node.output()->set_type(made->second.as_object().type->type());
    });
    graph.check();
    Signature signature = method.signature;
    if (!signature.arguments.empty()) signature.arguments[0].type = type->type();
    unit_.get_class(type->qualified_name())
        .methods.push_back(std::make_shared<Function>(type->qualified_name() + "." + method.name,
                                                      std::move(signature), method.graph));
  }

  Unit& unit_;
  const ObjectBox* root_;
  const AttributeUse& use_;
  std::set<Slot> used_;
  std::unordered_map<const ObjectBox*, IValue> made_;
};

}  // namespace

IValue rebuild_module(Unit& unit, const IValue& module, const AttributeUse& use,
                      const std::vector<FrozenMethod>& methods) {
  return Rebuilder(unit, module, use).run(methods);
}

}  // namespace flambeau::script
