#include "flambeau/script/types/variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/text.h"

namespace flambeau::script {
namespace {

const Type* find_binding(const TypeBindings& bindings, std::string_view name) {
  const auto found = std::ranges::find(bindings, name, &TypeBindings::value_type::first);
  return found == bindings.end() ? nullptr : &found->second;
}

std::string no_match(const Type& formal, const Type& actual) {
  return fmt::format("{} is no {}", annotation_text(actual), annotation_text(formal));
}

}  // namespace

bool has_type_variables(const Type& type) {
  return type.is(TypeKind::kVariable) || std::ranges::any_of(type.elements(), has_type_variables);
}

std::string bind_type_variables(const Unit* unit, const Type& formal, const Type& actual,
                                TypeBindings& bindings) {
  if (!has_type_variables(formal)) return {};
  const auto bind_all = [&]() -> std::string {
    if (!actual.is(formal.kind()) || actual.elements().size() != formal.elements().size())
      return no_match(formal, actual);
    for (size_t i = 0; i < formal.elements().size(); ++i) {
      std::string problem = bind_type_variables(unit, formal.elements()[i], actual.elements()[i], bindings);
      if (!problem.empty()) return problem;
    }
    return {};
  };
  switch (formal.kind()) {
    case TypeKind::kVariable: {
      const Type* const bound = find_binding(bindings, formal.name());
      if (bound == nullptr) {
        bindings.emplace_back(formal.name(), actual);
        return {};
      }
      // Either may hold the other here: the check of the argument itself says which one must.
      if (unify_types(unit, *bound, actual)) return {};
      return fmt::format("'{}' is {} already, found {}", formal.name(), annotation_text(*bound),
                         annotation_text(actual));
    }
    case TypeKind::kList: {
      if (actual.is(TypeKind::kList)) return bind_all();
      if (const std::optional<Type> tuple = as_tuple_type(unit, actual)) {
        if (const auto element = unify_types(unit, tuple->elements()))
          return bind_type_variables(unit, formal.element(), *element, bindings);
      }
      return no_match(formal, actual);
    }
    case TypeKind::kTuple: {
      const std::optional<Type> tuple = as_tuple_type(unit, actual);
      if (!tuple || tuple->elements().size() != formal.elements().size()) return no_match(formal, actual);
      for (size_t i = 0; i < formal.elements().size(); ++i) {
        std::string problem = bind_type_variables(unit, formal.elements()[i], tuple->elements()[i], bindings);
        if (!problem.empty()) return problem;
      }
      return {};
    }
    case TypeKind::kOptional:
      if (actual.is(TypeKind::kOptional)) return bind_all();
      // None is of an optional whose element nobody knows.
      if (actual.is(TypeKind::kNone)) return {};
      return bind_type_variables(unit, formal.element(), actual, bindings);
    default:
      return bind_all();
  }
}

std::optional<Type> resolve_type_variables(const Type& type, const TypeBindings& bindings) {
  if (type.is(TypeKind::kVariable)) {
    const Type* const bound = find_binding(bindings, type.name());
    if (bound == nullptr) return std::nullopt;
    return *bound;
  }
  if (!has_type_variables(type)) return type;
  std::vector<Type> elements;
  for (const Type& element : type.elements()) {
    std::optional<Type> resolved = resolve_type_variables(element, bindings);
    if (!resolved) return std::nullopt;
    elements.push_back(*std::move(resolved));
  }
  switch (type.kind()) {
    case TypeKind::kOptional:
      return make_optional(nullptr, elements[0]);
    case TypeKind::kList:
      return Type::list(std::move(elements[0]), type.list_size());
    case TypeKind::kDict:
      return Type::dict(std::move(elements[0]), std::move(elements[1]));
    case TypeKind::kTuple:
      return Type::tuple(std::move(elements), {type.fields().begin(), type.fields().end()});
    case TypeKind::kFuture:
      return Type::future(std::move(elements[0]));
    case TypeKind::kAwait:
      return Type::await(std::move(elements[0]));
    case TypeKind::kRRef:
      return Type::rref(std::move(elements[0]));
    default:
      return make_union(nullptr, elements);
  }
}

}  // namespace flambeau::script
