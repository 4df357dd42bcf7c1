#include "flambeau/script/compiler/conditions.h"

#include <algorithm>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/compiler/type_reader.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::compiler {
namespace {

using syntax::fail_at;
using syntax::Kind;

const Refinement* find_refinement(const std::vector<Refinement>& in, const std::string& name) {
  const auto found = std::ranges::find(in, name, &Refinement::name);
  return found == in.end() ? nullptr : &*found;
}

// All of both; what both say differently is not known.
std::vector<Refinement> united(std::vector<Refinement> a, const std::vector<Refinement>& b) {
  for (const Refinement& one : b) {
    const auto found = std::ranges::find(a, one.name, &Refinement::name);
    if (found == a.end()) {
      a.push_back(one);
    } else if (!(found->type == one.type)) {
      a.erase(found);
    }
  }
  return a;
}

std::vector<Refinement> common(const std::vector<Refinement>& a, const std::vector<Refinement>& b) {
  std::vector<Refinement> result;
  for (const Refinement& one : a) {
    const Refinement* other = find_refinement(b, one.name);
    if (other != nullptr && other->type == one.type) result.push_back(one);
  }
  return result;
}

enum class MayBeNone : uint8_t { kAlways, kMaybe, kNever };
MayBeNone may_be_none_now(const ir::Value* value) {
  const ir::Node* node = value->node();
  if (value->type().is(TypeKind::kNone)) return MayBeNone::kAlways;
  if (node->is(ir::NodeKind::kConstant) && node->name.empty() && node->constant.is_none() &&
      !value->type().is(TypeKind::kTensor)) {
    return MayBeNone::kAlways;
  }
  return may_be_none(value->type()) && !value->type().is(TypeKind::kAny) ? MayBeNone::kMaybe
                                                                         : MayBeNone::kNever;
}

}  // namespace

Refinements Refinements::both(const Refinements& other) const {
  return {united(true_, other.true_), common(false_, other.false_)};
}

Refinements Refinements::either(const Refinements& other) const {
  return {common(true_, other.true_), united(false_, other.false_)};
}

Condition Emitter::known_condition(bool value, const SourceRange& place, Refinements refinements) {
  return {constant(value, place), std::move(refinements), value};
}

ir::Value* Emitter::to_bool(Value* value, const SourceRange& place) {
  Value* made = nullptr;
  try {
    made = as_value(call_builtin(*find_builtin("bool"), {value}, {}, place), place);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kLimit || error.code() == ErrorCode::kInternal) throw;
  }
  if (made == nullptr || !made->type().is(TypeKind::kBool)) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "a condition is a bool; " + with_article(value->type()) + " is none");
  }
  return made;
}

Condition Emitter::emit_condition(const Node& node) {
  switch (node.kind) {
    case Kind::kAnd:
    case Kind::kOr:
      return emit_logical(node);
    case Kind::kNot: {
      const Condition inner = emit_condition(node.child(0));
      Condition made{
          operate(LanguageOperators::kNot, {inner.value}, range(node)), inner.refinements.opposite(), {}};
      if (inner.known) made.known = !*inner.known;
      return made;
    }
    case Kind::kIs:
    case Kind::kIsNot:
      return emit_is(node);
    case Kind::kCall:
      if (node.child(0).is(Kind::kName) && !frame().has(node.child(0).text)) {
        const std::string& called = node.child(0).text;
        if (called == "isinstance") {
          const auto arguments = arguments_of(node, 2, 2);
          return emit_is_instance(*arguments[0], *arguments[1]);
        }
        if (called == "hasattr") {
          const auto arguments = arguments_of(node, 2, 2);
          return emit_has_attribute(*arguments[0], *arguments[1]);
        }
      }
      if (node.child(0).is(Kind::kSelect) && dotted_name(node.child(0)) == "torch.jit.isinstance") {
        const auto arguments = arguments_of(node, 2, 2);
        return emit_is_instance(*arguments[0], *arguments[1]);
      }
      break;
    default:
      break;
  }
  Condition made{to_bool(emit(node), range(node)), {}, {}};
  const ir::Node* maker = made.value->node();
  if (maker->is(ir::NodeKind::kOperator)) made.known = script::known_condition(maker->op->schema.name.name);
  if (const auto known = constant_of(made.value); known && known->is(IValue::Tag::kBool))
    made.known = known->as_bool();
  return made;
}

// The second operand is in a block of its own: it may not be evaluated.
Condition Emitter::emit_logical(const Node& node) {
  const SourceRange place = range(node);
  const bool is_or = node.is(Kind::kOr);
  const Condition left = emit_condition(node.child(0));
  Condition right;
  const auto settled = [&] { return constant(is_or, place); };
  const auto goes_on = [&] {
    right = emit_condition(node.child(1));
    return right.value;
  };
  Condition made;
  made.value =
      is_or ? emit_if_value(place, left, settled, goes_on) : emit_if_value(place, left, goes_on, settled);
  made.refinements =
      is_or ? left.refinements.either(right.refinements) : left.refinements.both(right.refinements);
  // `or` is settled by one true, `and` by one false.
  if (left.known == is_or || right.known == is_or) {
    made.known = is_or;
  } else if (left.known && right.known) {
    made.known = !is_or;
  }
  return made;
}

Condition Emitter::emit_is(const Node& node) {
  const bool is_is = node.is(Kind::kIs);
  const SourceRange place = range(node);
  Value* left = emit(node.child(0));
  Value* right = emit(node.child(1));
  const MayBeNone left_none = may_be_none_now(left);
  const MayBeNone right_none = may_be_none_now(right);
  if (left_none == MayBeNone::kAlways && right_none == MayBeNone::kAlways)
    return known_condition(is_is, place);
  if ((left_none == MayBeNone::kAlways && right_none == MayBeNone::kNever) ||
      (left_none == MayBeNone::kNever && right_none == MayBeNone::kAlways)) {
    return known_condition(!is_is, place);
  }
  Condition made{operate(sign_operator(node.kind).operator_name, {left, right}, place), {}, {}};
  // x is None, or None is x.
  const bool is_swapped = !node.child(1).is(Kind::kNone) && node.child(0).is(Kind::kNone);
  const Node& name = node.child(is_swapped ? 1 : 0);
  const Value* value = is_swapped ? right : left;
  if (!node.child(is_swapped ? 0 : 1).is(Kind::kNone) || !name.is(Kind::kName)) return made;
  std::vector<Refinement> present;
  if (value->type().is(TypeKind::kOptional)) {
    present.push_back({name.text, value->type().element()});
  } else if (value->type().is(TypeKind::kUnion)) {
    const Type none = TypeKind::kNone;
    if (const auto rest = subtract_types(&unit_, value->type(), {&none, 1}))
      present.push_back({name.text, *rest});
  }
  made.refinements = is_is ? Refinements({}, present) : Refinements(present, {});
  return made;
}

Condition Emitter::emit_has_attribute(const Node& object, const Node& name) {
  const Meaning of = emit_meaning(object);
  if (!name.is(Kind::kString)) fail_at(range(name), "the second argument of hasattr is a string literal");
  return known_condition(has_attribute(of, name.text, range(object)), range(object));
}

Condition Emitter::emit_is_instance(const Node& object, const Node& types) {
  Value* value = emit(object);
  std::vector<Type> asked;
  std::vector<const Node*> rest{&types};
  while (!rest.empty()) {
    const Node* node = rest.back();
    rest.pop_back();
    if (node->is(Kind::kTuple)) {
      rest.insert(rest.end(), node->children.rbegin(), node->children.rend());
    } else {
      asked.push_back(read_type(*node));
    }
  }
  if (asked.empty()) fail_at(range(types), "isinstance asks for at least one type");
  // A union is what it is made of, and a number one of its kinds.
  const std::vector<Type> is_now = union_members(&unit_, std::span(&value->type(), 1));
  const std::vector<Type> wanted = union_members(&unit_, asked);

  std::vector<Type> if_true;
  std::vector<Type> if_false;
  bool is_certain = true;
  for (const Type& type : is_now) {
    if (type.is(TypeKind::kAny)) {
      if_true.insert(if_true.end(), wanted.begin(), wanted.end());
      if_false.push_back(TypeKind::kAny);
      if (if_true.size() != 1 || !if_true[0].is(TypeKind::kAny)) is_certain = false;
      break;
    }
    std::optional<Type> narrowed;
    for (const Type& one : wanted) {
      if (is_subtype(type, one)) {
        narrowed = type;
      } else if (is_subtype(one, type)) {
        narrowed = narrowed ? unify(*narrowed, one, true) : one;
      }
    }
    if (narrowed) {
      if_true.push_back(*narrowed);
    } else {
      if_false.push_back(type);
      is_certain = false;
    }
  }
  const auto refine = [&](const std::vector<Type>& to) {
    std::vector<Refinement> made;
    if (!object.is(Kind::kName) || to.empty()) return made;
    if (const auto type = unify_types(&unit_, to, nullptr, true)) made.push_back({object.text, *type});
    return made;
  };
  Refinements refinements(refine(if_true), refine(if_false));
  if (is_certain) return known_condition(true, range(object), std::move(refinements));
  if (if_true.empty()) return known_condition(false, range(object), std::move(refinements));
  Value* const inputs[] = {value};
  Value* made = insert_one(ir::NodeKind::kIsInstance, inputs, TypeKind::kBool);
  made->node()->types = wanted;
  return {made, std::move(refinements), {}};
}

}  // namespace flambeau::script::compiler
