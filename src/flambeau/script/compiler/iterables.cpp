// What loops walk: lists, strings, tensors, dicts, ranges, and several of them side by side.
#include <algorithm>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::compiler {

using syntax::fail_at;

Meaning Emitter::iterate(const Meaning& meaning, const SourceRange& place) {
  if (meaning.is(Meaning::Kind::kRange) || meaning.is(Meaning::Kind::kIterables) ||
      meaning.is(Meaning::Kind::kTuple)) {
    return meaning;
  }
  if (meaning.is(Meaning::Kind::kEnum)) {
    std::vector<IValue> all;
    for (const Enumerator& one : meaning.type->enumerators) {
      all.push_back(IValue::enumerator(meaning.type, one.name, one.value));
    }
    return Meaning::of(constant(IValue::list(meaning.type->type(), std::move(all)), place));
  }
  Value* value = as_value(meaning, place);
  const Type& type = value->type();
  if (type.is(TypeKind::kList) || type.is(TypeKind::kString) || type.is(TypeKind::kTensor)) return meaning;
  if (type.is(TypeKind::kDict)) return Meaning::of(operate(LanguageOperators::kKeys, {value}, place));
  if (tuple_type(type)) return Meaning::of(as_tuple(meaning, place));
  fail_at(place, ErrorCode::kInvalidArgument, with_article(type) + " cannot be walked by a loop");
}

Meaning Emitter::make_range(const std::vector<Value*>& inputs, const SourceRange& place,
                            std::optional<int64_t> count) {
  for (const Value* input : inputs) {
    if (!input->type().is(TypeKind::kInt)) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "the bounds of a range are ints, not " + shown(input->type()));
    }
  }
  Meaning made = Meaning::of(Meaning::Kind::kRange);
  made.count = count;
  made.is_only_end = inputs.size() == 1;
  if (made.is_only_end) {
    made.parts = {Meaning::of(constant(0, place)), Meaning::of(inputs[0]), Meaning::of(constant(1, place))};
  } else {
    made.parts = {Meaning::of(inputs.at(0)), Meaning::of(inputs.at(1)),
                  Meaning::of(inputs.size() > 2 ? inputs[2] : constant(1, place))};
  }
  return made;
}

std::optional<int64_t> Emitter::known_length(const Meaning& iterable) const {
  if (iterable.is(Meaning::Kind::kTuple)) return static_cast<int64_t>(iterable.parts.size());
  return iterable.count;
}

void Emitter::add_iterable(Meaning& to, Meaning part, const SourceRange& place) {
  const std::optional<int64_t> count = known_length(part);
  if (to.parts.empty()) {
    to.count = count;
  } else if (to.count.has_value() != count.has_value()) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "a tuple or module list is walked beside something whose length is not known while compiling");
  } else if (count) {
    to.count = std::min(*to.count, *count);
  }
  to.parts.push_back(std::move(part));
}

ir::Value* Emitter::length_of(const Meaning& iterable, const SourceRange& place) {
  if (iterable.is(Meaning::Kind::kRange)) {
    if (iterable.count) return constant(*iterable.count, place);
    if (iterable.is_only_end) return iterable.parts[1].value;
    return operate(LanguageOperators::kRangeLength,
                   {iterable.parts[0].value, iterable.parts[1].value, iterable.parts[2].value}, place);
  }
  if (iterable.is(Meaning::Kind::kIterables)) {
    // The shortest ends the loop, however they are nested.
    std::vector<const Meaning*> rest{&iterable};
    std::vector<Value*> lengths;
    while (!rest.empty()) {
      const Meaning* one = rest.back();
      rest.pop_back();
      if (one->is(Meaning::Kind::kIterables)) {
        for (auto part = one->parts.rbegin(); part != one->parts.rend(); ++part) rest.push_back(&*part);
      } else {
        lengths.push_back(length_of(*one, place));
      }
    }
    Value* list = make_list(TypeKind::kInt, lengths);
    return operate(LanguageOperators::kMinimum, {list}, place);
  }
  return operate(LanguageOperators::kLength, {as_value(iterable, place)}, place);
}

Meaning Emitter::item_of(const Meaning& iterable, Value* index, const SourceRange& place, const Type* hint) {
  if (iterable.is(Meaning::Kind::kRange)) {
    if (iterable.is_only_end) return Meaning::of(index);
    return Meaning::of(operate(LanguageOperators::kDeriveIndex,
                               {index, iterable.parts[0].value, iterable.parts[2].value}, place));
  }
  if (iterable.is(Meaning::Kind::kIterables)) {
    std::vector<Meaning> items;
    for (const Meaning& part : iterable.parts) items.push_back(item_of(part, index, place));
    return Meaning::of(std::move(items));
  }
  if (iterable.is(Meaning::Kind::kTuple)) {
    const auto at = constant_of(index);
    if (!at || !at->is(IValue::Tag::kInt) || at->as_int() < 0 ||
        static_cast<size_t>(at->as_int()) >= iterable.parts.size()) {
      fail_at(place, ErrorCode::kInvalidArgument, "the index of a tuple is a number that is written out");
    }
    return iterable.parts[static_cast<size_t>(at->as_int())];
  }
  Value* value = as_value(iterable, place);
  const Type& type = value->type();
  if (type.is(TypeKind::kList) || type.is(TypeKind::kString) || type.is(TypeKind::kDict)) {
    return Meaning::of(operate(LanguageOperators::kGetItem, {value, index}, place));
  }
  if (type.is(TypeKind::kTensor)) {
    return Meaning::of(operate(LanguageOperators::kSelect, {value, GivenArgument(IValue(0)), index}, place));
  }
  if (const std::shared_ptr<Class> of = class_of(type)) {
    if (of->is_module() && hint != nullptr) {
      // Any module of the container: the caller says what it is.
      CallContext calls = context();
      Call made;
      made.positional = {value, index};
      made.range = place;
      Value* item = emit_operator(calls, LanguageOperators::kModuleIndex, made);
      item->set_type(*hint);
      return Meaning::of(item);
    }
    return call(attribute(iterable, "__getitem__", place), {index}, {}, place);
  }
  fail_at(place, ErrorCode::kInvalidArgument, with_article(type) + " has no items");
}

}  // namespace flambeau::script::compiler
