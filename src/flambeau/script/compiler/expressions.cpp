// Expressions, but for calls, subscripts and literals of containers.
#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/syntax/literals.h"

namespace flambeau::script::compiler {

using syntax::fail_at;
using syntax::Kind;

ir::Value* Emitter::emit(const Node& node, const Type* hint) {
  Value* value = as_value(emit_meaning(node, 1, hint), range(node));
  // Any does not come about by unifying, so it is said where it is wanted.
  if (hint != nullptr && hint->is(TypeKind::kAny) && !value->type().is(TypeKind::kAny)) {
    value = cast_unchecked(value, *hint);
  }
  return value;
}

Meaning Emitter::emit_meaning(const Node& node, size_t binders, const Type* hint) {
  switch (node.kind) {
    case Kind::kName:
      return find_name(node.text, range(node));
    case Kind::kSelect:
      return attribute(emit_meaning(node.child(0)), node.text, range(node));
    case Kind::kCall:
      return emit_call(node, binders, hint);
    case Kind::kSubscript:
      return emit_subscript(node, hint);
    default:
      return Meaning::of(emit_simple(node, hint));
  }
}

Meaning Emitter::find_name(const std::string& name, const SourceRange& place) {
  if (unknown_.contains(name)) throw syntax::ConsequentError();
  if (auto found = frame().find(name)) return *found;
  if (const Builtin* builtin = find_builtin(name)) {
    Meaning made = Meaning::of(Meaning::Kind::kBuiltin);
    made.builtin = builtin;
    return made;
  }
  struct NamedForm {
    std::string_view name;
    Form form;
  };
  static constexpr NamedForm kForms[] = {
      {"print", Form::kPrint},           {"tuple", Form::kTuple}, {"getattr", Form::kGetAttr},
      {"hasattr", Form::kHasAttr},       {"list", Form::kList},   {"dict", Form::kDict},
      {"isinstance", Form::kIsInstance}, {"range", Form::kRange}, {"zip", Form::kZip},
      {"enumerate", Form::kEnumerate},   {"slice", Form::kSlice},
  };
  for (const NamedForm& form : kForms) {
    if (form.name == name) return Meaning::of(form.form);
  }
  if (name == "AssertionError") return Meaning::of(Meaning::Kind::kException, name);
  if (auto found = names_.find(*this, name, place)) return *found;
  if (const auto why = missing_.find(name); why != missing_.end()) {
    fail_at(place, ErrorCode::kInvalidArgument, "there is no '" + printable(name) + "' here: " + why->second);
  }
  fail_at(place, ErrorCode::kInvalidArgument, "there is no '" + printable(name) + "' here", near_name(name));
}

ir::Value* Emitter::emit_simple(const Node& node, const Type* hint) {
  switch (node.kind) {
    case Kind::kNumber:
      return emit_number(node);
    case Kind::kString:
      return constant(node.text, range(node));
    case Kind::kTrue:
      return constant(true, range(node));
    case Kind::kFalse:
      return constant(false, range(node));
    case Kind::kNone:
      return constant(IValue(), range(node));
    case Kind::kFormat:
      return emit_format(node);
    case Kind::kTuple:
      return make_tuple(emit_values(node.children));
    case Kind::kList:
      return emit_list(node, hint);
    case Kind::kDict:
      return emit_dict(node, hint);
    case Kind::kListComprehension:
      return emit_list_comprehension(node.child(0), node.child(1), node.child(2), range(node), hint);
    case Kind::kDictComprehension:
      return emit_dict_comprehension(node.child(0), node.child(1), node.child(2), node.child(3), range(node),
                                     hint);
    case Kind::kConditional:
      return emit_conditional(node, hint);
    case Kind::kIs:
    case Kind::kIsNot:
    case Kind::kAnd:
    case Kind::kOr:
    case Kind::kNot:
      return emit_condition(node).value;
    case Kind::kNegate:
    case Kind::kInvert:
      return emit_unary(node);
    case Kind::kStarred:
      fail_at(range(node), ErrorCode::kInvalidArgument, "a starred expression stands in a call or a list");
    case Kind::kDots:
    case Kind::kNoneType:
      fail_at(range(node), ErrorCode::kInvalidArgument, "this is no value");
    default:
      if (node.kind >= Kind::kAdd && node.kind <= Kind::kIn) return emit_binary(node);
      fail_at(range(node), ErrorCode::kInvalidArgument, "this is no expression");
  }
}

ir::Value* Emitter::emit_number(const Node& node) {
  const SourceRange place = range(node);
  return std::visit([&](const auto& value) { return number(value, place); },
                    syntax::read_number(node.text, place));
}

// f"a{b}" is "a{}".format(b).
ir::Value* Emitter::emit_format(const Node& node) {
  std::string pattern;
  std::vector<Value*> values;
  for (const Node* part : node.children) {
    if (part->is(Kind::kString)) {
      pattern += part->text;
    } else {
      pattern += "{}";
      values.push_back(emit(*part));
    }
  }
  Given given{constant(pattern, range(node))};
  given.insert(given.end(), values.begin(), values.end());
  return operate(LanguageOperators::kFormat, std::move(given), range(node));
}

ir::Value* Emitter::emit_conditional(const Node& node, const Type* hint) {
  const Condition condition = emit_condition(node.child(0));
  if (condition.known) return emit(node.child(*condition.known ? 1 : 2), hint);
  return emit_if_value(
      range(node), condition, [&] { return emit(node.child(1), hint); },
      [&] { return emit(node.child(2), hint); });
}

ir::Value* Emitter::emit_binary(const Node& node) {
  const SourceRange place = range(node);
  const SignOperator sign = sign_operator(node.kind);
  Value* left = emit(node.child(0));
  if (node.is(Kind::kModulo) && left->type().is(TypeKind::kString)) {
    // PyTorch evaluates the text twice here; the first is dropped.
    return operate(LanguageOperators::kPercentFormat, {left, emit(node.child(1))}, place);
  }
  Value* right = emit(node.child(1));
  if (node.is(Kind::kIn)) std::swap(left, right);
  if (node.is(Kind::kAdd) && tuple_type(left->type()) && tuple_type(right->type())) {
    std::vector<Value*> all = unpack_tuple(left);
    const std::vector<Value*> more = unpack_tuple(right);
    all.insert(all.end(), more.begin(), more.end());
    return make_tuple(all);
  }
  if (sign.method.empty()) return operate(sign.operator_name, {left, right}, place);
  return as_value(call_with_method(sign.method, sign.operator_name, {left, right}, {}, place), place);
}

ir::Value* Emitter::emit_unary(const Node& node) {
  const SourceRange place = range(node);
  const SignOperator sign = sign_operator(node.kind);
  Value* value = emit(node.child(0));
  // A constant stays one: -x of a number that is written out.
  if (const auto known = constant_of(value); known && node.is(Kind::kNegate)) {
    if (known->is(IValue::Tag::kInt)) {
      return constant(static_cast<int64_t>(0 - static_cast<uint64_t>(known->as_int())), place);
    }
    if (known->is(IValue::Tag::kFloat)) return constant(-known->as_float(), place);
  }
  return as_value(call_with_method(sign.method, sign.operator_name, {value}, {}, place), place);
}

Emitter::Given Emitter::emit_arguments(std::span<const Node* const> arguments, bool may_unpack) {
  Given given;
  for (const Node* argument : arguments) {
    if (argument->is(Kind::kKeyword)) continue;
    if (may_unpack && argument->is(Kind::kStarred)) {
      const SourceRange place = range(*argument);
      for (const Meaning& part : as_tuple(emit_meaning(argument->child(0)), place)) {
        given.emplace_back(as_value(part, place));
      }
    } else {
      given.emplace_back(emit(*argument));
    }
  }
  return given;
}

std::vector<ir::Value*> Emitter::emit_values(std::span<const Node* const> nodes) {
  std::vector<Value*> values;
  for (GivenArgument& argument : emit_arguments(nodes, true)) values.push_back(argument.value);
  return values;
}

}  // namespace flambeau::script::compiler
