// Assignments: to variables, tuples, attributes and items, plain and augmented.
#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/operators/legacy.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::compiler {

using syntax::fail_at;
using syntax::Kind;

void Emitter::assign(const std::string& name, Meaning meaning, const SourceRange& place,
                     const Type* annotated) {
  unknown_.erase(name);
  Value* value = meaning.is(Meaning::Kind::kValue) ? meaning.value : nullptr;
  // Only a value of this block is called so: the name of an inner variable says nothing outside.
  if (value != nullptr && !value->has_name() && is_meaningful(name) &&
      value->node()->block() == &frame().block()) {
    value->set_name(name);
  }
  if (const std::optional<Meaning> outside = frame().find_outside(name)) {
    if (annotated != nullptr) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "'" + printable(name) + "' has a type already, from the block around this one");
    }
    if (value == nullptr || !outside->is(Meaning::Kind::kValue)) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "'" + printable(name) + "' cannot be assigned again: one of the two is no value");
    }
    const Type& before = outside->value->type();
    CallContext calls = context();
    value = convert_implicitly(calls, before, value, true, place);
    if (!is_subtype(value->type(), before)) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "'" + printable(name) + "' was of type " + shown(before) + ", and is assigned " +
                  with_article(value->type()),
              "give it another name, or a wider type where it is first assigned");
    }
  }
  if (value == nullptr) return frame().set_meaning(name, std::move(meaning));
  if (annotated != nullptr && !is_subtype(value->type(), *annotated)) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "'" + printable(name) + "' is annotated as " + shown(*annotated) + ", and is assigned " +
                with_article(value->type()));
  }
  frame().store(name, value, annotated != nullptr ? *annotated : value->type(), place);
}

void Emitter::emit_assignment(const Node& statement) {
  const Node* value = statement.maybe(1);
  if (value == nullptr) fail_at(range(statement), "a variable is declared with a value", "assign one to it");
  if (statement.children.size() == 3) {
    return emit_single_assignment(statement.child(2), statement.maybe(0), *value, statement);
  }
  // The value is made once, then assigned from left to right.
  const std::string name = temporary("$tmp_assign_");
  assign(name, emit_meaning(*value), range(*value));
  for (size_t i = 2; i < statement.children.size(); ++i) {
    const Node held{
        .kind = Kind::kName, .start = value->start, .end = value->end, .text = name, .children = {}};
    emit_single_assignment(statement.child(i), nullptr, held, statement);
  }
}

void Emitter::emit_single_assignment(const Node& target, const Node* type, const Node& value,
                                     const Node& statement) {
  std::optional<Type> hint;
  if (type != nullptr) hint = read_type(*type);
  const Type* wanted = hint ? &*hint : nullptr;
  switch (target.kind) {
    case Kind::kName: {
      Meaning made = emit_meaning(value, 1, wanted);
      if (made.is(Meaning::Kind::kValue) && made.value->node()->is(ir::NodeKind::kOperator)) {
        const ir::Node& node = *made.value->node();
        const std::string_view legacy =
            legacy_operator(function_.qualified_name(), node.op->schema.name.name);
        if (!legacy.empty()) {
          const Given given(node.inputs().begin(), node.inputs().end());
          made = Meaning::of(operate(legacy, given, node.range));
        }
      }
      return assign(target.text, std::move(made), range(target), wanted);
    }
    case Kind::kTuple: {
      const size_t binders = target.children.size() - (check_targets(target.children, range(target)) ? 1 : 0);
      return assign_tuple(target, emit_meaning(value, binders), range(value));
    }
    case Kind::kSelect: {
      const Meaning object = emit_meaning(target.child(0));
      Value* made = as_value(emit_meaning(value, 1, wanted), range(value));
      return set_attribute(object, target.text, made, range(statement));
    }
    case Kind::kSubscript:
      return assign_subscript(range(statement), target, emit(value));
    default:
      fail_at(range(target), ErrorCode::kInvalidArgument, "this cannot be assigned to");
  }
}

bool Emitter::check_targets(std::span<const Node* const> targets, const SourceRange& place) {
  size_t starred = 0;
  for (const Node* target : targets) {
    if (target->is(Kind::kStarred)) {
      ++starred;
    } else if (!target->is(Kind::kName) && !target->is(Kind::kSubscript) && !target->is(Kind::kTuple) &&
               !target->is(Kind::kSelect)) {
      fail_at(range(*target), ErrorCode::kInvalidArgument, "this cannot be assigned to");
    }
  }
  if (starred > 1) fail_at(place, ErrorCode::kInvalidArgument, "one target alone may be starred");
  if (starred > 0 && targets.size() == 1) {
    fail_at(place, ErrorCode::kInvalidArgument, "a starred target needs another one beside it");
  }
  return starred > 0;
}

void Emitter::assign_tuple(const Node& targets, const Meaning& value, const SourceRange& place) {
  const bool is_starred = check_targets(targets.children, range(targets));
  const size_t binders = targets.children.size() - (is_starred ? 1 : 0);
  const std::vector<Meaning> values =
      as_tuple(value, place, is_starred ? std::nullopt : std::optional<size_t>(binders));
  if (values.size() < binders || (values.size() > binders && !is_starred)) {
    fail_at(
        range(targets), ErrorCode::kInvalidArgument,
        "there are " + std::to_string(binders) + " targets for " + std::to_string(values.size()) + " values");
  }
  assign_targets(targets.children, values, place, binders);
}

void Emitter::assign_targets(std::span<const Node* const> targets, std::span<const Meaning> values,
                             const SourceRange& place, size_t binders) {
  size_t next = 0;
  for (const Node* target : targets) {
    switch (target->kind) {
      case Kind::kName:
        assign(target->text, values[next++], range(*target));
        break;
      case Kind::kSubscript:
        assign_subscript(place, *target, as_value(values[next++], place));
        break;
      case Kind::kTuple:
        assign_tuple(*target, values[next++], place);
        break;
      case Kind::kSelect: {
        const Meaning object = emit_meaning(target->child(0));
        set_attribute(object, target->text, as_value(values[next++], place), place);
        break;
      }
      case Kind::kStarred: {
        const Node& name = target->child(0);
        if (!name.is(Kind::kName))
          fail_at(range(name), ErrorCode::kInvalidArgument, "a starred target is a name");
        std::vector<Value*> taken;
        for (size_t left = values.size() - binders; left > 0; --left) {
          taken.push_back(as_value(values[next++], range(*target)));
        }
        assign(name.text, Meaning::of(make_tuple(taken)), range(name));
        break;
      }
      default:
        fail_at(range(*target), ErrorCode::kInvalidArgument, "this cannot be assigned to");
    }
  }
}

void Emitter::emit_augmented(const Node& statement) {
  const Node& target = statement.child(0);
  switch (target.kind) {
    case Kind::kName: {
      Value* left = emit(target);
      return assign(target.text, Meaning::of(augmented_value(statement, left)), range(target));
    }
    case Kind::kSelect: {
      const Meaning object = emit_meaning(target.child(0));
      Value* left = as_value(attribute(object, target.text, range(target)), range(target));
      Value* made = augmented_value(statement, left);
      return set_attribute(object, target.text, made, range(statement));
    }
    case Kind::kSubscript:
      return augment_subscript(statement);
    default:
      fail_at(range(target), ErrorCode::kInvalidArgument, "this cannot be assigned to");
  }
}

namespace {

std::string_view operator_for(const AugmentedOperator& augmented, const Type& type) {
  return type.is(TypeKind::kTensor) || type.is(TypeKind::kList) ? augmented.in_place_name
                                                                : augmented.operator_name;
}

}  // namespace

ir::Value* Emitter::augmented_value(const Node& statement, Value* left) {
  const AugmentedOperator augmented = augmented_operator(statement.operation);
  const SourceRange place = range(statement);
  Value* right = emit(statement.child(1));
  if (!is_object(left->type())) return operate(operator_for(augmented, left->type()), {left, right}, place);
  const std::shared_ptr<Class> type = class_of(left->type());
  const bool is_in_place =
      !augmented.method.empty() && type->find_method(augmented.in_place_method) != nullptr;
  if (!is_in_place && (augmented.method.empty() || type->find_method(augmented.method) == nullptr)) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "the class " + printable(type->qualified_name()) + " has no method for this assignment");
  }
  const std::string_view method = is_in_place ? augmented.in_place_method : augmented.method;
  return as_value(call_method(left, std::string(method), {right}, {}, place), place);
}

void Emitter::augment_subscript(const Node& statement) {
  const Node& target = statement.child(0);
  const SourceRange place = range(statement);
  const std::span<const Node* const> indices = std::span(target.children).subspan(1);
  const AugmentedOperator augmented = augmented_operator(statement.operation);
  Value* container = emit(target.child(0));
  if (container->type().is(TypeKind::kTensor)) {
    const auto [sliced, tensors] = index_tensor(container, indices, range(target));
    Value* right = emit(statement.child(1));
    if (tensors.empty()) {
      operate(augmented.in_place_name, {sliced, right}, place);
      return;
    }
    Value* list = make_list(Type::optional(TypeKind::kTensor), tensors);
    Value* indexed = operate(LanguageOperators::kIndex, {sliced, list}, place);
    Value* made = operate(augmented.in_place_name, {indexed, right}, place);
    operate(LanguageOperators::kIndexPut, {sliced, list, made}, place);
    return;
  }
  const bool is_list = container->type().is(TypeKind::kList);
  if (indices.size() != 1 || indices[0]->is(Kind::kSlice) ||
      (!is_list && !container->type().is(TypeKind::kDict))) {
    fail_at(place, ErrorCode::kUnsupported,
            with_article(container->type()) + " has no such augmented assignment");
  }
  Value* index = emit(*indices[0]);
  Value* right = emit(statement.child(1));
  Value* item = operate(LanguageOperators::kGetItem, {container, index}, place);
  // PyTorch asks a dict's keys, not its values, whether to work in place.
  const Type& asked = container->type().elements()[0];
  Value* made = operate(operator_for(augmented, asked), {item, right}, place);
  operate(LanguageOperators::kSetItem, {container, index, made}, place);
}

void Emitter::assign_subscript(const SourceRange& place, const Node& target, Value* value) {
  const std::span<const Node* const> indices = std::span(target.children).subspan(1);
  Value* container = emit(target.child(0));
  if (container->type().is(TypeKind::kTensor)) {
    const auto [sliced, tensors] = index_tensor(container, indices, range(target));
    switch (value->type().kind()) {
      case TypeKind::kNumber:
      case TypeKind::kInt:
      case TypeKind::kFloat:
      case TypeKind::kBool:
      case TypeKind::kComplex: {
        Value* dtype = operate(LanguageOperators::kDtype, {sliced}, {});
        Value* device = operate(LanguageOperators::kDevice, {sliced}, {});
        value = operate(LanguageOperators::kTensor, {value}, {}, {{"dtype", dtype}, {"device", device}});
        break;
      }
      default:
        break;
    }
    if (tensors.empty()) {
      operate(LanguageOperators::kCopyInto, {sliced, value}, place);
    } else {
      Value* list = make_list(Type::optional(TypeKind::kTensor), tensors);
      operate(LanguageOperators::kIndexPut, {sliced, list, value}, place);
    }
    return;
  }
  if (indices.size() != 1 || indices[0]->is(Kind::kSlice)) {
    fail_at(range(target), ErrorCode::kUnsupported, "a slice of a list cannot be assigned to");
  }
  if (tuple_type(container->type())) {
    fail_at(range(target), ErrorCode::kInvalidArgument, "the items of a tuple cannot be assigned to");
  }
  Value* index = emit(*indices[0]);
  call_with_method("__setitem__", LanguageOperators::kSetItem, {container, index, value}, {}, place);
}

}  // namespace flambeau::script::compiler
