// How types relate: which is a subtype of which, which one holds the values of two, and what unions are made
// of. Classes are known by their names; the unit says which are interfaces, named tuples or enums. Without a
// unit they are only names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flambeau/value/type.h"

namespace flambeau::script {

class Unit;

// Whether every value of `type` is one of `of`. `why_not`, when given, says more than the types do, e.g. the
// method that an interface has and a class lacks. Throws what resolving a class throws, and Error(kLimit) for
// interfaces that speak of each other too deeply.
bool is_subtype(const Unit* unit, const Type& type, const Type& of, std::string* why_not = nullptr);

// The type of a value that is of one or the other: the wider one, Optional of one, tuples element by element.
// With `default_to_union` there always is one. `hint`: a common type that was asked for, e.g. an interface.
std::optional<Type> unify_types(const Unit* unit, const Type& a, const Type& b, bool default_to_union = false,
                                const Type* hint = nullptr);
// The same of many. `why_not` says where it failed.
std::optional<Type> unify_types(const Unit* unit, std::span<const Type> types, std::string* why_not = nullptr,
                                bool default_to_union = false, const Type* hint = nullptr);

// Flattened, without types that another one holds, in PyTorch's order. One type alone is that type,
// Union[T, None] is Optional[T], Union[int, float, complex] is number. `types` is not empty.
Type make_union(const Unit* unit, std::span<const Type> types);
// What a value of one of the types may be, in the same order: numbers as int, float and complex, optionals as
// their element and None.
std::vector<Type> union_members(const Unit* unit, std::span<const Type> types);
// A number, or the union of all that a number may be: PyTorch calls them equal.
bool is_any_number(const Type& type);
// T itself where it is an optional, or None.
Type make_optional(const Unit* unit, const Type& type);
// What is left of a union or optional when a value is known to be of none of `removed`; nothing when nothing
// is.
std::optional<Type> subtract_types(const Unit* unit, const Type& from, std::span<const Type> removed);

// Whether a value of the type may be None.
bool may_be_none(const Type& type);
// The plain tuple type of a tuple, or of a class that is a named tuple; nothing for others.
std::optional<Type> as_tuple_type(const Unit* unit, const Type& type);

}  // namespace flambeau::script
