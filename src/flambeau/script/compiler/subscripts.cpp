// Subscripts: items, slices, and indexing of tensors by several things at once.
#include <algorithm>
#include <limits>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::compiler {

using syntax::fail_at;
using syntax::Kind;

Meaning Emitter::emit_subscript(const Node& node, const Type* hint) {
  const SourceRange place = range(node);
  const Meaning of = emit_meaning(node.child(0));
  const std::span<const Node* const> indices = std::span(node.children).subspan(1);
  Value* value = as_value(of, range(node.child(0)));
  const Type type = value->type();
  if (indices.size() != 1) {
    if (!type.is(TypeKind::kTensor)) {
      fail_at(place, ErrorCode::kInvalidArgument, "only tensors are indexed by several things at once");
    }
    return Meaning::of(emit_indexing(value, indices, place));
  }
  if (indices[0]->is(Kind::kSlice)) {
    // The dimension comes first.
    Value* dimension = type.is(TypeKind::kTensor) ? constant(0, place) : nullptr;
    return Meaning::of(insert_slice(value, dimension, emit_slice(*indices[0]), place));
  }
  if (type.is(TypeKind::kTensor)) return Meaning::of(emit_indexing(value, indices, place));
  const Meaning given = emit_meaning(*indices[0]);
  if (given.is(Meaning::Kind::kSlice)) {
    return Meaning::of(insert_slice(value, nullptr, given, place));
  }
  Value* index = as_value(given, place);
  if (const auto tuple = tuple_type(type)) return Meaning::of(index_tuple(value, *tuple, index, place));
  return item_of(of, index, place, hint);
}

Meaning Emitter::emit_slice(const Node& slice) {
  Meaning made = Meaning::of(Meaning::Kind::kSlice);
  for (size_t i = 0; i < 3; ++i) {
    const Node* bound = slice.maybe(i);
    made.parts.push_back(bound != nullptr ? Meaning::of(emit(*bound)) : Meaning());
  }
  return made;
}

ir::Value* Emitter::insert_slice(Value* of, Value* dimension, const Meaning& slice,
                                 const SourceRange& place) {
  Value* bounds[3] = {};
  for (size_t i = 0; i < 3; ++i) bounds[i] = slice.parts[i].value;
  if (const auto tuple = tuple_type(of->type())) {
    return slice_tuple(of, *tuple, bounds[0], bounds[1], bounds[2], place);
  }
  if (bounds[2] == nullptr) bounds[2] = constant(1, place);
  Given given{of};
  if (dimension != nullptr) given.emplace_back(dimension);
  for (Value* bound : bounds) {
    if (bound != nullptr) {
      given.emplace_back(bound);
    } else {
      given.emplace_back(IValue());
    }
  }
  return operate(LanguageOperators::kSlice, std::move(given), place);
}

ir::Value* Emitter::index_tuple(Value* tuple, const Type& type, Value* index, const SourceRange& place) {
  if (!index->type().is(TypeKind::kInt))
    fail_at(place, ErrorCode::kInvalidArgument, "the index of a tuple is an int");
  const auto elements = type.elements();
  const std::optional<IValue> known = constant_of(index);
  Value* const inputs[] = {tuple, index};
  if (!known) {
    if (elements.empty() || !is_convertible_to_list(unit_, type, Type::list(elements[0]))) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "the items of the tuple are of different types, so that its index must be written out");
    }
    return insert_one(ir::NodeKind::kTupleIndex, inputs, elements[0]);
  }
  const auto size = static_cast<int64_t>(elements.size());
  const int64_t given = known->as_int();
  const int64_t at = given < 0 && given >= -size ? given + size : given;
  if (at < 0 || at >= size) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "a tuple of " + std::to_string(size) + " has no item " + std::to_string(given));
  }
  return insert_one(ir::NodeKind::kTupleIndex, inputs, elements[static_cast<size_t>(at)]);
}

// A tuple of the items; which ones is known.
ir::Value* Emitter::slice_tuple(Value* tuple, const Type& type, Value* begin, Value* end, Value* step,
                                const SourceRange& place) {
  const auto elements = type.elements();
  const auto size = static_cast<int64_t>(elements.size());
  const auto known = [&](Value* value) {
    const std::optional<IValue> held = constant_of(value);
    if (!held || !held->is(IValue::Tag::kInt)) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "the bounds of a tuple's slice are ints that are written out");
    }
    return held->as_int();
  };
  const int64_t stride = step != nullptr ? known(step) : 1;
  if (stride == 0) fail_at(place, ErrorCode::kInvalidArgument, "the step of a slice is not zero");
  // As Python: bounds beyond the ends are the ends.
  const int64_t lowest = stride > 0 ? 0 : -1;
  const int64_t highest = stride > 0 ? size : size - 1;
  const auto bound = [&](Value* value, int64_t otherwise) {
    if (value == nullptr) return otherwise;
    const int64_t at = known(value);
    return std::clamp(at < 0 ? (at < -size ? int64_t{-1} : at + size) : at, lowest, highest);
  };
  const int64_t first = bound(begin, stride > 0 ? 0 : size - 1);
  const int64_t last = bound(end, stride > 0 ? size : -1);
  std::vector<Value*> items;
  for (int64_t at = first; stride > 0 ? at < last : at > last;) {
    Value* const inputs[] = {tuple, constant(at, {})};
    items.push_back(insert_one(ir::NodeKind::kTupleIndex, inputs, elements[static_cast<size_t>(at)]));
    if (stride > size || stride < -size) break;
    at += stride;
  }
  return make_tuple(items);
}

ir::Value* Emitter::index_with(Value* tensor, std::span<Value* const> indices, const SourceRange& place) {
  Value* list = make_list(Type::optional(TypeKind::kTensor), indices);
  return operate(LanguageOperators::kIndex, {tensor, list}, place);
}

ir::Value* Emitter::emit_indexing(Value* tensor, std::span<const Node* const> indices,
                                  const SourceRange& place) {
  const auto [sliced, tensors] = index_tensor(tensor, indices, place);
  return tensors.empty() ? sliced : index_with(sliced, tensors, place);
}

// Ints, slices and None are applied one after the other; tensors are left for one index operator. Behind an
// ellipsis dimensions are counted from the end.
std::pair<ir::Value*, std::vector<ir::Value*>> Emitter::index_tensor(Value* tensor,
                                                                     std::span<const Node* const> indices,
                                                                     const SourceRange& place) {
  std::vector<int64_t> dimensions(indices.size());
  std::vector<Value*> values(indices.size());
  std::vector<Meaning> slices(indices.size());
  const auto place_of = [&](size_t at, int64_t dimension, bool is_backwards) {
    dimensions[at] = dimension;
    const int64_t next = is_backwards ? dimension - 1 : dimension + 1;
    const Node& index = *indices[at];
    if (index.is(Kind::kSlice)) return next;
    const Meaning given = emit_meaning(index);
    if (given.is(Meaning::Kind::kSlice)) {
      slices[at] = given;
      return next;
    }
    Value* value = as_value(given, range(index));
    // A list of numbers is a tensor of int64.
    if (value->type().is(TypeKind::kList)) {
      value = operate(LanguageOperators::kTensor, {value}, {}, {{"dtype", IValue(4)}});
    }
    values[at] = value;
    const Type& type = value->type();
    if (type.is(TypeKind::kNone)) return is_backwards ? dimension : next;
    if (type.is(TypeKind::kInt)) return is_backwards ? next : dimension;
    if (!is_subtype(type, Type::optional(TypeKind::kTensor))) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "a tensor is indexed by ints, slices, lists and tensors, not by " + with_article(type));
    }
    if (is_backwards) {
      fail_at(place, ErrorCode::kUnsupported, "a tensor cannot be an index behind an ellipsis");
    }
    return next;
  };
  size_t at = 0;
  for (int64_t dimension = 0; at < indices.size() && !indices[at]->is(Kind::kDots); ++at) {
    dimension = place_of(at, dimension, false);
  }
  int64_t dimension = -1;
  for (size_t back = indices.size(); back > at + 1; --back) {
    if (indices[back - 1]->is(Kind::kDots)) {
      fail_at(place, ErrorCode::kInvalidArgument, "a subscript has one ellipsis at most");
    }
    dimension = place_of(back - 1, dimension, true);
  }

  std::vector<Value*> tensors;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i]->is(Kind::kDots)) continue;
    Value* value = values[i];
    if (value == nullptr) {
      Value* dimension_value = constant(dimensions[i], place);
      if (indices[i]->is(Kind::kSlice)) slices[i] = emit_slice(*indices[i]);
      tensor = insert_slice(tensor, dimension_value, slices[i], place);
    } else if (value->type().is(TypeKind::kNone)) {
      tensor = operate(LanguageOperators::kUnsqueeze, {tensor, constant(dimensions[i], place)}, place);
    } else if (value->type().is(TypeKind::kInt)) {
      tensor = operate(LanguageOperators::kSelect, {tensor, constant(dimensions[i], place), value}, place);
    } else {
      tensors.resize(static_cast<size_t>(dimensions[i]) + 1);
      tensors.back() = value;
    }
  }
  for (Value*& index : tensors) {
    if (index == nullptr) index = constant(IValue(), {});
  }
  return {tensor, tensors};
}

}  // namespace flambeau::script::compiler
