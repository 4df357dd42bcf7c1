// Constants stand at the beginning of the graph, equal ones once.
#include <bit>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/passes/alias_classes.h"
#include "flambeau/script/passes/constant_key.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/printer/tensor_key.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;

namespace {

constexpr int kMostKeyDepth = 100;

void append_number(std::string& key, uint64_t bits) { key += std::to_string(bits) + ";"; }

void append_key(std::string& key, const IValue& value, int depth) {
  append_number(key, static_cast<uint64_t>(value.tag()));
  switch (value.tag()) {
    case IValue::Tag::kNone:
      return;
    case IValue::Tag::kBool:
      return append_number(key, value.as_bool() ? 1 : 0);
    case IValue::Tag::kInt:
      return append_number(key, static_cast<uint64_t>(value.as_int()));
    case IValue::Tag::kFloat:
      return append_number(key, std::bit_cast<uint64_t>(value.as_float()));
    case IValue::Tag::kComplex:
      append_number(key, std::bit_cast<uint64_t>(value.as_complex().real()));
      return append_number(key, std::bit_cast<uint64_t>(value.as_complex().imag()));
    case IValue::Tag::kString:
      append_number(key, value.as_string().size());
      key += value.as_string();
      return;
    case IValue::Tag::kDevice:
      key += value.as_device().to_string() + ";";
      return;
    case IValue::Tag::kEnum:
      key += value.as_enum().type->qualified_name() + "." + value.as_enum().name + ";";
      return;
    case IValue::Tag::kTuple:
      if (depth < kMostKeyDepth) {
        append_number(key, value.items().size());
        if (value.as_tuple().named != nullptr) key += value.as_tuple().named->qualified_name();
        for (const IValue& item : value.items()) append_key(key, item, depth + 1);
        return;
      }
      [[fallthrough]];
    default:
      append_number(key, std::bit_cast<uintptr_t>(value.identity()));
  }
}

bool is_mutable(const Unit* unit, const Type& type, int depth) {
  // Named tuples could be of each other.
  if (depth > kMostKeyDepth) return true;
  switch (type.kind()) {
    case TypeKind::kTensor:
    case TypeKind::kList:
    case TypeKind::kDict:
    case TypeKind::kAny:
    case TypeKind::kAnyList:
    case TypeKind::kAnyTuple:
    case TypeKind::kAnyClass:
    case TypeKind::kFuture:
    case TypeKind::kAwait:
      return true;
    case TypeKind::kClass: {
      const std::shared_ptr<Class> found = unit != nullptr ? unit->find_class(type.name()) : nullptr;
      if (found == nullptr) return true;
      if (found->kind() == ClassKind::kEnum) return false;
      if (found->kind() != ClassKind::kNamedTuple) return true;
      for (const Attribute& field : found->attributes) {
        if (is_mutable(unit, field.type, depth + 1)) return true;
      }
      return false;
    }
    default:
      for (const Type& element : type.elements()) {
        if (is_mutable(unit, element, depth + 1)) return true;
      }
      return false;
  }
}

}  // namespace

bool is_mutable_type(const Unit* unit, const Type& type) { return is_mutable(unit, type, 0); }

bool can_be_constant(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::kNone:
    case IValue::Tag::kBool:
    case IValue::Tag::kInt:
    case IValue::Tag::kFloat:
    case IValue::Tag::kDevice:
    case IValue::Tag::kString:
    case IValue::Tag::kComplex:
    case IValue::Tag::kEnum:
      return true;
    case IValue::Tag::kTuple:
      for (const IValue& item : value.items()) {
        if (!can_be_constant(item)) return false;
      }
      return true;
    default:
      return false;
  }
}

std::string constant_key(const Node& constant) {
  std::string key = constant.output()->type().to_string() + ";";
  if (!constant.name.empty()) return key + "function " + constant.name;
  append_key(key, constant.constant, 0);
  return key;
}

bool are_same_constants(const Node& a, const Node& b) { return constant_key(a) == constant_key(b); }

namespace {

// The same for constants that PyTorch takes for one, those that can be changed among them: lists and tensors
// of equal contents.
std::string pooling_key(const Node& constant) {
  const IValue& value = constant.constant;
  if (value.is(IValue::Tag::kTensor) && value.as_tensor().defined()) {
    if (const std::optional<std::string> key = tensor_key(value.as_tensor())) return "tensor;" + *key;
  }
  if (!value.is(IValue::Tag::kList)) return constant_key(constant);
  std::string key = "list " + value.as_list().element.to_string() + ";";
  for (const IValue& item : value.items()) {
    if (!can_be_constant(item)) return constant_key(constant);
    append_key(key, item, 0);
  }
  return key;
}

// Whether what the graph returns may be the value, or hold it.
class Returned {
 public:
  explicit Returned(const ir::Graph& graph) : classes_(graph) {
    std::vector<size_t> waiting;
    for (const ir::Value* output : graph.outputs()) waiting.push_back(classes_.find(output));
    while (!waiting.empty()) {
      const size_t found = waiting.back();
      waiting.pop_back();
      if (!returned_.insert(found).second) continue;
      for (const size_t inner : classes_.contained(found)) waiting.push_back(inner);
    }
  }
  bool may_hold(const ir::Value& value) const { return returned_.contains(classes_.find(&value)); }

 private:
  AliasClasses classes_;
  std::unordered_set<size_t> returned_;
};

}  // namespace

void pool_constants(ir::Graph& graph) {
  std::unordered_map<std::string, Node*> known;
  std::optional<Returned> returned;
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (!node.is(NodeKind::kConstant)) return;
    const auto [place, is_new] = known.try_emplace(pooling_key(node), &node);
    if (is_new) {
      if (&node != graph.block().first()) node.move_before(graph.block().first());
      return;
    }
    if (is_mutable_type(nullptr, node.output()->type())) {
      // Whoever is given both may change one.
      if (!returned) returned.emplace(graph);
      if (returned->may_hold(*node.output()) && returned->may_hold(*place->second->output())) return;
    }
    node.output()->replace_uses_with(place->second->output());
    node.destroy();
  });
}

}  // namespace flambeau::script
