// Nodes that are expressions, all but calls of operators.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/script/printer/name_maker.h"
#include "flambeau/script/python/body.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

// Whether leaving an argument out gives it that value.
bool is_left_out(const Argument& argument, const IValue* given) {
  if (!argument.default_value || given == nullptr || argument.default_value->tag() != given->tag())
    return false;
  switch (given->tag()) {
    case IValue::Tag::kNone:
      return true;
    case IValue::Tag::kBool:
      return given->as_bool() == argument.default_value->as_bool();
    case IValue::Tag::kInt:
      return given->as_int() == argument.default_value->as_int();
    case IValue::Tag::kFloat:
      return given->as_float() == argument.default_value->as_float();
    case IValue::Tag::kString:
      return given->as_string() == argument.default_value->as_string();
    default:
      return false;
  }
}

// Whether the first thing that happens to an object is that this call makes it.
bool is_constructor(const Node& user, const Value& object) {
  if (!user.is(NodeKind::kCallMethod) || user.name != "__init__" || user.input(0) != &object ||
      user.block() != object.node()->block()) {
    return false;
  }
  return std::ranges::all_of(object.uses(), [&](const ir::Use& other) {
    return other.user == &user ? other.index == 0 : user.is_before(other.user);
  });
}

}  // namespace

PythonExpression PythonBody::expression(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kConstant: {
      if (!node.name.empty()) return {file_.function_name(node.name)};
      std::string text = file_.literal(node.constant);
      const PythonLevel level = text.starts_with('-') ? kLevelSign : kLevelAtom;
      return {std::move(text), level};
    }
    case NodeKind::kUninitialized:
      return {"None"};
    case NodeKind::kPrint:
      return {builtin("print") + "(" + uses(node.inputs()) + ")"};
    case NodeKind::kTupleConstruct: {
      const Type& type = node.output()->type();
      if (type.is(TypeKind::kClass)) return {file_.class_name(type.name()) + "(" + uses(node.inputs()) + ")"};
      return {"(" + uses(node.inputs()) + (node.inputs().size() == 1 ? ",)" : ")")};
    }
    case NodeKind::kTupleIndex: {
      const std::string object = use(node.input(0), kLevelAtom);
      return {object + "[" + use(node.input(1)) + "]"};
    }
    case NodeKind::kTupleSlice:
      return {fmt::format("{}[{}:{}]", use(node.input(0), kLevelAtom), node.begin, node.end)};
    case NodeKind::kListConstruct:
      return {"[" + uses(node.inputs()) + "]"};
    case NodeKind::kDictConstruct: {
      std::string text;
      for (size_t i = 0; i + 1 < node.inputs().size(); i += 2) {
        text += (i > 0 ? ", " : "") + use(node.input(i));
        text += ": " + use(node.input(i + 1));
      }
      return {"{" + text + "}"};
    }
    case NodeKind::kCreateObject: {
      const Value& object = *node.output();
      if (std::ranges::any_of(object.uses(),
                              [&](const ir::Use& each) { return is_constructor(*each.user, object); })) {
        deferred_.insert(&object);
        return {};
      }
      const std::string& name = file_.class_name(object.type().name());
      return {fmt::format("{}.__new__({})", name, name)};
    }
    case NodeKind::kGetAttr:
      return attribute(node);
    case NodeKind::kCallFunction: {
      const std::string& callee = node.input(0)->node()->name;
      const Function& function = file_.unit().get_function(callee);
      const std::string name = file_.function_name(callee);
      return {name + "(" + arguments(node.inputs().subspan(1), &function.signature(), 0) + ")"};
    }
    case NodeKind::kCallMethod:
      return method_call(node);
    case NodeKind::kIsInstance:
      return is_instance(node);
    case NodeKind::kToList:
      return {use(node.input(0), kLevelAtom) + ".tolist()"};
    default:
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("{} cannot be written as Python", ir::node_kind_name(node.kind())));
  }
}

// Arguments at the end that have their default are left out.
std::string PythonBody::arguments(std::span<Value* const> values, const Signature* signature, size_t first) {
  size_t needed = values.size();
  const bool is_known = signature != nullptr && signature->arguments.size() == values.size() + first;
  while (is_known && needed > 0 &&
         is_left_out(signature->arguments[first + needed - 1], constant(values[needed - 1]))) {
    --needed;
  }
  std::string text;
  for (size_t i = 0; i < needed; ++i) {
    if (i > 0) text += ", ";
    if (is_known && signature->arguments[first + i].is_kwarg_only)
      text += signature->arguments[first + i].name + "=";
    text += use(values[i]);
  }
  return text;
}

PythonExpression PythonBody::method_call(const Node& node) {
  const Value* const object = node.input(0);
  const Type& type = object->type();
  const std::shared_ptr<Class> known =
      type.is(TypeKind::kClass) ? file_.unit().find_class(type.name()) : nullptr;
  const std::shared_ptr<Function>* const method = known == nullptr ? nullptr : known->find_method(node.name);
  const Signature* const signature = method == nullptr ? nullptr : &(*method)->signature();
  if (node.name == "__init__" && deferred_.erase(object) != 0) {
    const std::string given = arguments(node.inputs().subspan(1), signature, 1);
    const std::string name = name_for(object, node);
    assign(object, name);
    line(fmt::format("{} = {}({})", name, file_.class_name(type.name()), given));
    expressions_[node.output()] = {"None"};
    return {};
  }
  const std::string receiver = use(object, kLevelAtom);
  const std::string given = arguments(node.inputs().subspan(1), signature, 1);
  const bool is_module =
      known != nullptr && (known->is_module() || known->kind() == ClassKind::kModuleInterface);
  // Hooks are calls of their own in scripts; calling the module would run them again.
  const bool has_hooks =
      known != nullptr && (!known->forward_hooks.empty() || !known->forward_pre_hooks.empty());
  const bool is_layer = known != nullptr && file_.is_layer(known->qualified_name());
  const bool is_forward = node.name == "forward" || (is_layer && node.name.starts_with("forward__"));
  if (is_module && is_forward && !has_hooks && !selves_.contains(object))
    return {receiver + "(" + given + ")"};
  return {fmt::format("{}.{}({})", receiver, node.name, given)};
}

PythonExpression PythonBody::attribute(const Node& node) {
  const std::string object = use(node.input(0), kLevelAtom);
  if (is_identifier(node.name)) return {object + "." + node.name};
  const Type& type = node.input(0)->type();
  const bool is_number = std::ranges::all_of(node.name, [](char c) { return c >= '0' && c <= '9'; });
  if (type.is(TypeKind::kClass) && file_.is_layer(type.name()) && is_number)
    return {object + "[" + node.name + "]"};
  return {fmt::format("getattr({}, {})", object, python_quoted(node.name))};
}

PythonExpression PythonBody::is_instance(const Node& node) {
  const std::string value = use(node.input(0), kLevelBitOr);
  const auto test = [&](const Type& type) {
    if (type.is(TypeKind::kNone)) return value + " is None";
    const bool is_class = type.is(TypeKind::kClass) && file_.class_name(type.name()) != "Any";
    const bool is_plain = type.is(TypeKind::kTensor) || is_class;
    if (is_plain || type.is(TypeKind::kAnyList) || type.is(TypeKind::kAnyTuple)) {
      return fmt::format("{}({}, {})", builtin("isinstance"), value, file_.annotation(type));
    }
    return fmt::format("{}({}, {})", file_.need("is_instance"), value, file_.annotation(type));
  };
  std::string text;
  for (const Type& type : node.types) text += (text.empty() ? "" : " or ") + test(type);
  return {text.empty() ? "False" : text, node.types.size() > 1 ? kLevelOr : kLevelCompare};
}

}  // namespace flambeau::script
