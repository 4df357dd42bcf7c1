// Types of values that bytecode does not say: casts are no instructions, branches that can never be taken are
// still there, and what was never given a value has no type.
#include <algorithm>

#include "flambeau/script/bytecode/lifter.h"
#include "flambeau/script/operators/effects.h"
#include "flambeau/script/operators/evaluate.h"
#include "flambeau/script/operators/rewrites/peepholes.h"
#include "flambeau/script/passes/constant_key.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/variables.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::bytecode {
namespace {

using ir::NodeKind;

// Whether values of it may be more than it says.
bool is_vague(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kAny:
    case TypeKind::kNumber:
    case TypeKind::kOptional:
    case TypeKind::kUnion:
      return true;
    default:
      return std::ranges::any_of(type.elements(), is_vague);
  }
}

const IValue* known_value(const ir::Value& value) {
  const ir::Node& node = *value.node();
  return node.is(NodeKind::kConstant) && node.name.empty() ? &node.constant : nullptr;
}

}  // namespace

ir::Value* Lifter::fitted(ir::Value* value, const Type& wanted) {
  const Type type = value->type();
  if (has_type_variables(wanted)) {
    const bool is_too_wide =
        type.is(TypeKind::kOptional) && !wanted.is(TypeKind::kOptional) && !wanted.is(TypeKind::kVariable);
    return is_too_wide ? fitted(value, type.without_optional()) : value;
  }
  // An attribute that is None in the file may be something else when it is asked.
  const bool may_be_more = is_vague(type) || (type.is(TypeKind::kNone) && known_value(*value) == nullptr);
  if (is_subtype(&unit_, type, wanted) || !may_be_more) return value;
  const Type rest = type.without_optional();
  ir::Node* const node = graph_->make(NodeKind::kUncheckedCast, Values{value}, 1);
  node->output()->set_type(is_subtype(&unit_, rest, wanted) ? rest : wanted.without_optional());
  return graph_->insert(node)->output();
}

void Lifter::fit(Values& inputs, const Signature& signature) {
  for (size_t i = 0; i < inputs.size() && i < signature.arguments.size(); ++i)
    inputs[i] = fitted(inputs[i], signature.arguments[i].type);
}

// Attributes have the types of what the file holds, and may be given other values.
bool Lifter::cannot_be_none(const ir::Value& value) const {
  const ir::Node& node = *value.node();
  const bool is_said = node.is(NodeKind::kParameters)
                           ? node.block() == &graph_->block()
                           : node.is(NodeKind::kOperator) || node.is(NodeKind::kListConstruct);
  return is_said && !is_vague(value.type()) && !value.type().is(TypeKind::kNone);
}

std::optional<bool> Lifter::known_test_for_none(std::string_view name, const Values& inputs) const {
  const Peephole test = find_peephole(name);
  if ((test != Peephole::kIs && test != Peephole::kIsNot) || inputs.size() != 2) return std::nullopt;
  for (const size_t i : {0, 1}) {
    const IValue* const known = known_value(*inputs[i]);
    if (known != nullptr && known->is_none() && cannot_be_none(*inputs[1 - i]))
      return test == Peephole::kIsNot;
  }
  return std::nullopt;
}

bool Lifter::fold(const OperatorEntry& entry, const Signature& signature, const Values& inputs) {
  if (const std::optional<bool> found = known_test_for_none(entry.schema.name.name, inputs)) {
    push(made_constant(*found, TypeKind::kBool));
    return true;
  }
  if (entry.schema.is_vararg || entry.schema.is_mutable() || has_side_effects(entry.schema.name))
    return false;
  std::vector<IValue> values;
  for (const ir::Value* const input : inputs) {
    const IValue* const known = known_value(*input);
    if (known == nullptr || is_mutable_type(&unit_, input->type())) return false;
    values.push_back(*known);
  }
  for (const Type& result : signature.returns) {
    if (has_type_variables(result) || is_mutable_type(&unit_, result)) return false;
  }
  const std::optional<std::vector<IValue>> results = evaluate_operator(entry, values);
  if (!results || results->size() != signature.returns.size()) return false;
  for (const IValue& result : *results) push(made_constant(result, runtime_type(result)));
  return true;
}

Type Lifter::joined_type(const ir::Value& a, const ir::Value& b) const {
  if (is_unset(a)) return b.type();
  if (is_unset(b) || a.type() == b.type()) return a.type();
  return unify_types(&unit_, a.type(), b.type()).value_or(Type(TypeKind::kAny));
}

ir::Value* Lifter::given_on(ir::Value* value, const Type& type) {
  if (!is_unset(*value)) {
    // Optional types and unions are said where a name is given its first value; these are not.
    const bool needs_cast =
        !(value->type() == type) && (type.is(TypeKind::kAny) || type.is(TypeKind::kNumber));
    if (!needs_cast) return value;
    ir::Node* const cast = graph_->make(NodeKind::kUncheckedCast, Values{value}, 1);
    cast->output()->set_type(type);
    return graph_->insert(cast)->output();
  }
  ir::Node* const node = graph_->make(NodeKind::kUninitialized, Values{}, 1);
  node->output()->set_type(type);
  unset_.insert(node->output());
  return graph_->insert(node)->output();
}

// (tensor, dimensions, kind of numbers).
Type Lifter::to_list_type(const Values& inputs) {
  const IValue* const dimensions = known_value(*inputs[1]);
  const IValue* const kind = known_value(*inputs[2]);
  constexpr int64_t kMostDimensions = 64;
  constexpr TypeKind kKinds[] = {TypeKind::kInt, TypeKind::kFloat, TypeKind::kBool, TypeKind::kComplex};
  if (dimensions == nullptr || kind == nullptr || !dimensions->is(IValue::Tag::kInt) ||
      !kind->is(IValue::Tag::kInt) || dimensions->as_int() < 0 || dimensions->as_int() > kMostDimensions ||
      kind->as_int() < 0 || kind->as_int() >= static_cast<int64_t>(std::size(kKinds))) {
    return TypeKind::kAny;
  }
  Type type = kKinds[kind->as_int()];
  for (int64_t i = 0; i < dimensions->as_int(); ++i) type = Type::list(type);
  return type;
}

}  // namespace flambeau::script::bytecode
