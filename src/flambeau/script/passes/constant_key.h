// When two constants are the same, and what can be one.
#pragma once

#include <string>

#include "flambeau/script/ir/graph.h"

namespace flambeau::script {

class Unit;

// Whether a value of the type can be changed, or holds one that can: such a value must be made anew each
// time.
bool is_mutable_type(const Unit* unit, const Type& type);
// Numbers, strings, devices, enumerators, None, and tuples of such.
bool can_be_constant(const IValue& value);
// The same for constants of one type that nobody can tell apart; what can be changed is only itself. Zeros of
// different signs differ, and so do all NaNs of different bits.
std::string constant_key(const ir::Node& constant);
bool are_same_constants(const ir::Node& a, const ir::Node& b);

}  // namespace flambeau::script
