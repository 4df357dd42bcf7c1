// Arguments that somebody outside gives to a function of a script.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flambeau/script/unit.h"

namespace flambeau::interpreter {

using script::IValue;

// All arguments in the signature's order, those left out with their defaults. An int stands for a float or a
// complex number, a tuple or untyped list for a list of the wanted type: a new one, as Python's own lists are
// copied. Throws Error(kInvalidArgument) that names the argument and what it takes.
std::vector<IValue> bind_arguments(const script::Unit& unit, const script::Signature& signature,
                                   std::vector<IValue> positional,
                                   const std::vector<std::pair<std::string, IValue>>& keywords);

// One value as that type; nothing where it cannot be.
std::optional<IValue> fit(const IValue& value, const Type& type, const script::Unit& unit);

}  // namespace flambeau::interpreter
