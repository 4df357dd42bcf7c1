// Type variables: "t" in "aten::append.t(t[](a!) self, t(c -> *) el)" is one type throughout a call.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/value/type.h"

namespace flambeau::script {

class Unit;

// What the variables of one call stand for. A schema has at most a few.
using TypeBindings = std::vector<std::pair<std::string, Type>>;

bool has_type_variables(const Type& type);

// Finds what the variables of `formal` stand for when a value of type `actual` is given for it; adds to the
// bindings. Gives the reason when it cannot be; the empty text when it can. Whether `actual` then fits is
// another question.
std::string bind_type_variables(const Unit* unit, const Type& formal, const Type& actual,
                                TypeBindings& bindings);
// The type with its variables replaced; nothing when one has no binding.
std::optional<Type> resolve_type_variables(const Type& type, const TypeBindings& bindings);

}  // namespace flambeau::script
