#include "flambeau/script/compiler/argument_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/conversions.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"

namespace flambeau::script {
namespace {

using Action = ArgumentPlan::Action;

// A number given for a list of fixed size, each element of which it becomes.
bool is_number_for_list(const Type& type, const Argument& argument) {
  if (!argument.list_size || (!type.is(TypeKind::kInt) && !type.is(TypeKind::kFloat))) return false;
  const Type& wanted = argument.type.without_optional();
  return wanted.is(TypeKind::kList) && wanted.element() == type;
}

ArgumentPlan wrap(Action action, Type type, ArgumentPlan inner) {
  ArgumentPlan plan;
  plan.action = action;
  plan.type = std::move(type);
  plan.parts.push_back(std::move(inner));
  return plan;
}

ArgumentPlan convert_elements(const Unit& unit, const Type& wanted, const Type& tuple, ArgumentPlan plan,
                              bool allow_conversions) {
  std::vector<Type> types;
  std::vector<ArgumentPlan> elements;
  for (size_t i = 0; i < tuple.elements().size(); ++i) {
    ArgumentPlan element;
    element.action = Action::kElement;
    element.type = tuple.elements()[i];
    element.count = static_cast<int64_t>(i);
    elements.push_back(plan_conversion(unit, wanted.elements()[i], std::move(element), allow_conversions));
    types.push_back(elements.back().type);
  }
  ArgumentPlan made = wrap(Action::kUnpackToTuple, Type::tuple(std::move(types)), std::move(plan));
  std::ranges::move(elements, std::back_inserter(made.parts));
  return made;
}

// What a call needs made of its arguments has no place in the text, as in PyTorch: debug information says so.
std::vector<ir::Value*> unpack_tuple(CallContext& context, ir::Value* tuple, const Type& type) {
  ir::Graph& graph = context.graph;
  ir::Node* const node = graph.make(ir::NodeKind::kTupleUnpack, std::array{tuple}, type.elements().size());
  graph.insert(node);
  for (size_t i = 0; i < type.elements().size(); ++i) node->output(i)->set_type(type.elements()[i]);
  return {node->outputs().begin(), node->outputs().end()};
}

ir::Value* make_container(CallContext& context, ir::NodeKind kind, std::span<ir::Value* const> values,
                          const Type& type) {
  ir::Node* const node = context.graph.make(kind, values);
  context.graph.insert(node);
  node->output()->set_type(type);
  return node->output();
}

// `elements`: of the tuple that is being unpacked.
ir::Value* emit_within(CallContext& context, const ArgumentPlan& plan, std::span<ir::Value* const> elements,
                       const SourceRange& range) {
  const auto emit_part = [&](size_t index) {
    return emit_within(context, plan.parts[index], elements, range);
  };
  switch (plan.action) {
    case Action::kGiven:
      if (plan.value != nullptr) return plan.value;
      return insert_constant(context.graph, *plan.constant, SourceRange());
    case Action::kElement:
      return elements[static_cast<size_t>(plan.count)];
    case Action::kRepeat: {
      const std::vector<ir::Value*> repeated(static_cast<size_t>(plan.count), emit_part(0));
      return make_container(context, ir::NodeKind::kListConstruct, repeated, plan.type);
    }
    case Action::kEmptyList:
    case Action::kList: {
      std::vector<ir::Value*> values;
      if (plan.action == Action::kList)
        for (size_t i = 0; i < plan.parts.size(); ++i) values.push_back(emit_part(i));
      return make_container(context, ir::NodeKind::kListConstruct, values, plan.type);
    }
    case Action::kUnpackToList: {
      ir::Value* const tuple = emit_part(0);
      const Type type = *as_tuple_type(&context.unit, tuple->type());
      const std::vector<ir::Value*> values = unpack_tuple(context, tuple, type);
      return make_container(context, ir::NodeKind::kListConstruct, values, plan.type);
    }
    case Action::kUnpackToTuple: {
      ir::Value* const tuple = emit_part(0);
      const Type type = *as_tuple_type(&context.unit, tuple->type());
      const std::vector<ir::Value*> inner = unpack_tuple(context, tuple, type);
      std::vector<ir::Value*> values;
      for (size_t i = 1; i < plan.parts.size(); ++i)
        values.push_back(emit_within(context, plan.parts[i], inner, range));
      return make_container(context, ir::NodeKind::kTupleConstruct, values, plan.type);
    }
    case Action::kConvert: {
      Call call;
      call.positional.emplace_back(emit_part(0));
      call.range = range;
      return emit_operator(context, plan.name, call);
    }
  }
  return nullptr;
}

std::string mismatch(const Argument& argument, const Type& found, const std::string& more) {
  std::string text = fmt::format("argument '{}' is of type {}, found {}", argument.name,
                                 annotation_text(argument.type), annotation_text(found));
  if (argument.list_size) text += fmt::format(" (a list of {}, or one number)", *argument.list_size);
  if (found.is(TypeKind::kList) && found.element().is(TypeKind::kTensor) &&
      argument.type.without_optional().is(TypeKind::kList))
    text += "; an empty list is one of tensors unless it is annotated";
  return more.empty() ? text : text + ": " + more;
}

}  // namespace

ArgumentPlan plan_given(const GivenArgument& given) {
  if (given.value == nullptr) return plan_constant(given.constant);
  ArgumentPlan plan;
  plan.value = given.value;
  plan.type = given.value->type();
  plan.is_empty_literal = given.value->node()->is(ir::NodeKind::kEmptyListLiteral);
  return plan;
}

ArgumentPlan plan_constant(const IValue& constant) {
  ArgumentPlan plan;
  plan.constant = &constant;
  plan.type = runtime_type(constant);
  return plan;
}

bool is_convertible_to_list(const Unit& unit, const Type& type, const Type& list) {
  if (!list.is(TypeKind::kList)) return false;
  if (is_subtype(&unit, type, list)) return true;
  const std::optional<Type> tuple = as_tuple_type(&unit, type);
  return tuple && std::ranges::all_of(tuple->elements(), [&](const Type& element) {
           return is_subtype(&unit, element, list.element());
         });
}

ArgumentPlan plan_conversion(const Unit& unit, const Type& wanted, ArgumentPlan plan,
                             bool allow_conversions) {
  if (wanted.is(TypeKind::kOptional) && !plan.type.is(TypeKind::kOptional) && !plan.type.is(TypeKind::kNone))
    return plan_conversion(unit, wanted.element(), std::move(plan), allow_conversions);

  if (plan.is_empty_literal && wanted.is(TypeKind::kList)) {
    ArgumentPlan empty;
    empty.action = Action::kEmptyList;
    empty.type = wanted;
    plan = std::move(empty);
  }
  if (const std::optional<Type> tuple = as_tuple_type(&unit, plan.type)) {
    const Type& list = wanted.without_optional();
    if (is_convertible_to_list(unit, plan.type, list)) {
      plan = wrap(Action::kUnpackToList, Type::list(list.element()), std::move(plan));
    } else if (wanted.is(TypeKind::kTuple) && wanted.elements().size() == tuple->elements().size() &&
               !is_subtype(&unit, plan.type, wanted)) {
      plan = convert_elements(unit, wanted, *tuple, std::move(plan), allow_conversions);
    }
  }
  if (!allow_conversions) return plan;
  const Type from = is_any_number(plan.type) ? Type(TypeKind::kNumber) : plan.type;
  if (const Conversion* const conversion = find_conversion(from, wanted))
    return wrap(Action::kConvert, conversion->gives, std::move(plan)).with_name(conversion->operator_name);
  return plan;
}

std::optional<ArgumentPlan> plan_argument(const Unit& unit, const Argument& argument, ArgumentPlan plan,
                                          bool allow_conversions, TypeBindings& bindings,
                                          std::string* why_not) {
  if (is_number_for_list(plan.type, argument)) {
    const Type list = Type::list(plan.type);
    plan = wrap(Action::kRepeat, list, std::move(plan));
    plan.count = *argument.list_size;
  }
  Type wanted = argument.type;
  if (has_type_variables(argument.type)) {
    const std::string problem = bind_type_variables(&unit, argument.type, plan.type, bindings);
    std::optional<Type> resolved =
        problem.empty() ? resolve_type_variables(argument.type, bindings) : std::nullopt;
    if (!resolved) {
      if (why_not != nullptr) {
        *why_not =
            mismatch(argument, plan.type,
                     problem.empty() ? "that does not say what its type variables stand for" : problem);
      }
      return std::nullopt;
    }
    wanted = *std::move(resolved);
  }
  plan = plan_conversion(unit, wanted, std::move(plan), allow_conversions);
  std::string reason;
  if (!is_subtype(&unit, plan.type, wanted, why_not != nullptr ? &reason : nullptr)) {
    if (why_not != nullptr) *why_not = mismatch(argument, plan.type, reason);
    return std::nullopt;
  }
  return plan;
}

ir::Value* emit_plan(CallContext& context, const ArgumentPlan& plan, const SourceRange& range) {
  return emit_within(context, plan, {}, range);
}

ir::Value* convert_implicitly(CallContext& context, const Type& wanted, ir::Value* value,
                              bool allow_conversions, const SourceRange& range) {
  const GivenArgument given(value);
  return emit_plan(context, plan_conversion(context.unit, wanted, plan_given(given), allow_conversions),
                   range);
}

}  // namespace flambeau::script
