// The unions of relations.h: what they hold, and in which order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {
namespace {

constexpr size_t kMostInUnion = 256;

// Where PyTorch sorts the kind in a union: by its own number of it.
constexpr TypeKind kUnionOrder[] = {
    TypeKind::kAny,        TypeKind::kAnyEnum,   TypeKind::kTensor,       TypeKind::kStorage,
    TypeKind::kTuple,      TypeKind::kList,      TypeKind::kDict,         TypeKind::kNumber,
    TypeKind::kFloat,      TypeKind::kComplex,   TypeKind::kFuture,       TypeKind::kAwait,
    TypeKind::kRRef,       TypeKind::kInt,       TypeKind::kNone,         TypeKind::kString,
    TypeKind::kGenerator,  TypeKind::kQuantizer, TypeKind::kBool,         TypeKind::kOptional,
    TypeKind::kVariable,   TypeKind::kDevice,    TypeKind::kStream,       TypeKind::kFunction,
    TypeKind::kClass,      TypeKind::kPyObject,  TypeKind::kCapsule,      TypeKind::kQScheme,
    TypeKind::kScalarType, TypeKind::kLayout,    TypeKind::kMemoryFormat, TypeKind::kAnyList,
    TypeKind::kAnyTuple,   TypeKind::kAnyClass,  TypeKind::kSymInt,       TypeKind::kSymFloat,
    TypeKind::kSymBool,    TypeKind::kUnion,
};

// Twice the place, to leave room between: enums and interfaces are kinds of their own to PyTorch.
int union_rank(const Unit* unit, const Type& type) {
  const auto rank = [](TypeKind kind) {
    return 2 * static_cast<int>(std::ranges::find(kUnionOrder, kind) - std::begin(kUnionOrder));
  };
  if (unit != nullptr && type.is(TypeKind::kClass)) {
    if (const std::shared_ptr<Class> found = unit->find_class(type.name())) {
      if (found->kind() == ClassKind::kNamedTuple) return rank(TypeKind::kTuple);
      if (found->kind() == ClassKind::kEnum) return rank(TypeKind::kAny) + 1;
      if (found->is_interface()) return rank(TypeKind::kCapsule) + 1;
    }
  }
  return rank(type.kind());
}

void flatten(const Type& type, std::vector<Type>& into) {
  if (type.is(TypeKind::kUnion)) {
    for (const Type& element : type.elements()) flatten(element, into);
  } else if (type.is(TypeKind::kOptional)) {
    flatten(type.element(), into);
    into.emplace_back(TypeKind::kNone);
  } else if (type.is(TypeKind::kNumber)) {
    into.insert(into.end(), {TypeKind::kFloat, TypeKind::kComplex, TypeKind::kInt});
  } else {
    into.push_back(type);
  }
  if (into.size() > kMostInUnion)
    throw Error(ErrorCode::kLimit, fmt::format("a union of over {} types", kMostInUnion));
}

// Each type that has one type in common with another gives way to that one.
void merge_related(const Unit* unit, std::vector<Type>& types) {
  for (size_t i = types.size(); i-- > 1;) {
    for (size_t j = i; j-- > 0;) {
      // None would make an optional of the other.
      if (types[i].is(TypeKind::kNone) != types[j].is(TypeKind::kNone)) continue;
      std::optional<Type> common = unify_types(unit, types[i], types[j]);
      if (!common) continue;
      types[j] = *std::move(common);
      types.erase(types.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
}

bool are_all_numbers(std::span<const Type> types) {
  const auto has = [&](TypeKind kind) { return std::ranges::find(types, Type(kind)) != types.end(); };
  return types.size() == 3 && has(TypeKind::kInt) && has(TypeKind::kFloat) && has(TypeKind::kComplex);
}

}  // namespace

std::vector<Type> union_members(const Unit* unit, std::span<const Type> types) {
  std::vector<Type> held;
  for (const Type& type : types) flatten(type, held);
  merge_related(unit, held);
  if (held.size() < 2) return held;

  struct Ranked {
    int rank;
    std::string text;
    Type type;
  };
  std::vector<Ranked> ranked;
  ranked.reserve(held.size());
  for (const Type& type : held) ranked.push_back({union_rank(unit, type), type.to_string(), type});
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.text < b.text;
  });
  for (size_t i = 0; i < held.size(); ++i) held[i] = ranked[i].type;
  return held;
}

bool is_any_number(const Type& type) {
  return type.is(TypeKind::kNumber) || (type.is(TypeKind::kUnion) && are_all_numbers(type.elements()));
}

Type make_union(const Unit* unit, std::span<const Type> types) {
  if (types.empty()) throw Error(ErrorCode::kInvalidArgument, "a union of no types");
  std::vector<Type> held = union_members(unit, types);
  std::vector<Type> others;
  std::ranges::remove_copy(held, std::back_inserter(others), Type(TypeKind::kNone));
  const bool holds_none = others.size() != held.size();
  if (others.empty()) return TypeKind::kNone;
  std::optional<Type> single;
  if (others.size() == 1) single = others.front();
  // Without None it stays a union, though it holds what a number may be.
  if (holds_none && are_all_numbers(others)) single = TypeKind::kNumber;
  if (single) return holds_none ? Type::optional(*single) : *single;
  return Type::union_of(std::move(held));
}

Type make_optional(const Unit* unit, const Type& type) {
  if (type.is(TypeKind::kOptional) || type.is(TypeKind::kNone)) return type;
  if (is_any_number(type)) return Type::optional(TypeKind::kNumber);
  if (!type.is(TypeKind::kUnion)) return Type::optional(type);
  // What is left of the union beside None.
  const std::optional<Type> others = subtract_types(unit, type, std::array{Type(TypeKind::kNone)});
  return Type::optional(*others);
}

std::optional<Type> subtract_types(const Unit* unit, const Type& from, std::span<const Type> removed) {
  std::vector<Type> held;
  if (from.is(TypeKind::kUnion)) {
    held.assign(from.elements().begin(), from.elements().end());
  } else if (from.is(TypeKind::kOptional)) {
    const Type& element = from.element();
    if (element.is(TypeKind::kUnion)) {
      held.assign(element.elements().begin(), element.elements().end());
    } else {
      held.push_back(element);
    }
    held.emplace_back(TypeKind::kNone);
  } else {
    held.push_back(from);
  }
  std::erase_if(held, [&](const Type& type) {
    return std::ranges::any_of(removed, [&](const Type& other) { return is_subtype(unit, type, other); });
  });
  if (held.empty()) return std::nullopt;
  return make_union(unit, held);
}

}  // namespace flambeau::script
