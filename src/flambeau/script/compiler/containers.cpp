// Literals and comprehensions of lists and dicts, and what an annotation says of their elements.
#include <algorithm>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/types/relations.h"

namespace flambeau::script::compiler {

using syntax::fail_at;

// One list or dict type, or the several that a union has.
Emitter::ContainerHint Emitter::container_hint(const Type* hint, TypeKind kind, const SourceRange& place) {
  ContainerHint made;
  if (hint == nullptr) return made;
  made.type = *hint;
  if (hint->is(TypeKind::kUnion)) {
    made.annotated_union = *hint;
    for (const Type& element : hint->elements()) {
      if (element.is(kind)) made.candidates.push_back(element);
    }
    if (made.candidates.size() == 1) {
      made.type = made.candidates[0];
      made.candidates.clear();
    }
  } else if (hint->is(TypeKind::kOptional)) {
    made.annotated_union = *hint;
    made.type = hint->element();
  }
  if (made.type->is(TypeKind::kAny)) {
    made.type.reset();
  } else if (made.candidates.empty() && !made.type->is(kind)) {
    fail_at(
        place, ErrorCode::kInvalidArgument,
        std::string("a ") + (kind == TypeKind::kList ? "list" : "dict") + " is annotated as " + shown(*hint));
  }
  return made;
}

Type Emitter::pick_list(const ContainerHint& hint, const Type& element, const SourceRange& place) {
  if (hint.candidates.empty()) return hint.type ? *hint.type : Type::list(element);
  std::optional<Type> widest;
  for (const Type& candidate : hint.candidates) {
    if (!is_subtype(element, candidate.element())) continue;
    widest = widest ? unify(*widest, candidate.element(), true) : candidate.element();
  }
  if (!widest) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "no list of " + shown(*hint.annotated_union) + " holds " + with_article(element));
  }
  return Type::list(*widest);
}

Type Emitter::pick_dict(const ContainerHint& hint, const Type& key, const Type& value,
                        const SourceRange& place) {
  if (hint.candidates.empty()) return hint.type ? *hint.type : Type::dict(key, value);
  const Type* widest = nullptr;
  for (const Type& candidate : hint.candidates) {
    const auto types = candidate.elements();
    if (!is_subtype(key, types[0]) || !is_subtype(value, types[1])) continue;
    if (widest == nullptr ||
        (is_subtype(widest->elements()[0], types[0]) && is_subtype(widest->elements()[1], types[1]))) {
      widest = &candidate;
    }
  }
  if (widest == nullptr) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "no dict of " + shown(*hint.annotated_union) + " holds " + shown(key) + " and " + shown(value));
  }
  return *widest;
}

ir::Value* Emitter::emit_list(const Node& node, const Type* hint) {
  const SourceRange place = range(node);
  const std::vector<Value*> values = emit_values(node.children);
  // One that nobody names fits every list.
  if (values.empty() && hint == nullptr) {
    return insert_one(ir::NodeKind::kEmptyListLiteral, {}, Type::list(TypeKind::kTensor));
  }
  const ContainerHint wanted = container_hint(hint, TypeKind::kList, place);
  Type type = wanted.type && wanted.candidates.empty() ? *wanted.type : Type::list(TypeKind::kTensor);
  if (values.empty() && !wanted.candidates.empty()) {
    fail_at(place, ErrorCode::kInvalidArgument, "which list of the union an empty one is cannot be known");
  }
  if (!values.empty()) {
    std::vector<Type> types;
    for (const Value* value : values) types.push_back(value->type());
    const bool is_known = wanted.type && wanted.candidates.empty();
    const Type* element = is_known ? &wanted.type->element() : nullptr;
    const Type unified = *unify_types(&unit_, types, nullptr, true, element);
    if (element != nullptr && !is_subtype(unified, *element)) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "the list is annotated as " + shown(*wanted.type) + ", and holds " + shown(unified));
    }
    type = pick_list(wanted, unified, place);
  }
  Value* made = make_list(type.element(), values);
  return wanted.annotated_union ? cast_unchecked(made, *wanted.annotated_union) : made;
}

ir::Value* Emitter::emit_dict(const Node& node, const Type* hint) {
  const SourceRange place = range(node);
  std::vector<Value*> inputs;
  std::optional<Type> value_type;
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    Value* key = emit(node.child(i));
    Value* value = emit(node.child(i + 1));
    if (!inputs.empty() && key->type().kind() != inputs[0]->type().kind()) {
      fail_at(range(node.child(i)), ErrorCode::kInvalidArgument,
              "the keys of a dict are of one type: this is " + shown(key->type()) + ", the first was " +
                  shown(inputs[0]->type()));
    }
    value_type = value_type ? unify(*value_type, value->type(), true) : value->type();
    inputs.push_back(key);
    inputs.push_back(value);
  }
  const ContainerHint wanted = container_hint(hint, TypeKind::kDict, place);
  if (inputs.empty() && !wanted.candidates.empty()) {
    fail_at(place, ErrorCode::kInvalidArgument, "which dict of the union an empty one is cannot be known");
  }
  Type type = Type::dict(TypeKind::kString, TypeKind::kTensor);
  if (!inputs.empty()) {
    type = pick_dict(wanted, inputs[0]->type(), *value_type, place);
    if (!(type.elements()[0] == inputs[0]->type()) || !is_subtype(*value_type, type.elements()[1])) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "the dict is annotated as " + shown(type) + ", and holds " + shown(inputs[0]->type()) +
                  " and " + shown(*value_type));
    }
  } else if (wanted.type) {
    type = *wanted.type;
  }
  Value* made = insert_one(ir::NodeKind::kDictConstruct, inputs, type);
  return wanted.annotated_union ? cast_unchecked(made, *wanted.annotated_union) : made;
}

ir::Value* Emitter::emit_list_comprehension(const Node& element, const Node& target, const Node& iterable,
                                            const SourceRange& place, const Type* hint) {
  // Without a turn that says otherwise it is a list of tensors.
  Value* list = make_list(TypeKind::kTensor, {});
  ContainerHint wanted = container_hint(hint, TypeKind::kList, place);
  if (wanted.type && wanted.candidates.empty()) list->set_type(*wanted.type);
  ir::Node* scope = graph_->insert(graph_->make(ir::NodeKind::kComprehensionScope, {}, 0));
  scope->range = place;
  ir::Block& block = *scope->add_block();
  push_frame(block);
  const InsertAt guard(*graph_, block);
  bool is_first = true;
  const Node* const targets[] = {&target};
  emit_for(targets, iterable, place, [&] {
    Value* item = emit(element);
    if (std::exchange(is_first, false)) list->set_type(Type::list(item->type()));
    const bool is_known = wanted.type && wanted.candidates.empty();
    const Type* known = is_known ? &wanted.type->element() : nullptr;
    const Type unified = *unify(list->type().element(), item->type(), true, known);
    if (known != nullptr && !is_subtype(unified, *known)) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "the list is annotated as " + shown(*wanted.type) + ", and holds " + shown(unified));
    }
    wanted.type = pick_list(wanted, unified, place);
    wanted.candidates.clear();
    list->set_type(*wanted.type);
    item->set_type(wanted.type->element());
    operate(LanguageOperators::kAppend, {list, item}, place);
  });
  pop_frame();
  return list;
}

ir::Value* Emitter::emit_dict_comprehension(const Node& key, const Node& value, const Node& target,
                                            const Node& iterable, const SourceRange& place,
                                            const Type* hint) {
  Value* dict =
      insert_one(ir::NodeKind::kDictConstruct, {}, Type::dict(TypeKind::kString, TypeKind::kTensor));
  const ContainerHint wanted = container_hint(hint, TypeKind::kDict, place);
  if (wanted.type && wanted.candidates.empty()) dict->set_type(*wanted.type);
  ir::Node* scope = graph_->insert(graph_->make(ir::NodeKind::kComprehensionScope, {}, 0));
  scope->range = place;
  ir::Block& block = *scope->add_block();
  push_frame(block);
  const Node* const targets[] = {&target};
  {
    const InsertAt guard(*graph_, block);
    emit_for(targets, iterable, place, [&] {
      Value* new_key = emit(key);
      Value* new_value = emit(value);
      const Type type = pick_dict(wanted, new_key->type(), new_value->type(), place);
      if (!is_subtype(new_key->type(), type.elements()[0]) ||
          !is_subtype(new_value->type(), type.elements()[1])) {
        fail_at(place, ErrorCode::kInvalidArgument,
                "the dict is annotated as " + shown(type) + ", and holds " + shown(new_key->type()) +
                    " and " + shown(new_value->type()));
      }
      dict->set_type(type);
      new_key->set_type(type.elements()[0]);
      new_value->set_type(type.elements()[1]);
      operate(LanguageOperators::kSetItem, {dict, new_key, new_value}, place);
    });
  }
  pop_frame();
  return wanted.annotated_union ? cast_unchecked(dict, *wanted.annotated_union) : dict;
}

}  // namespace flambeau::script::compiler
