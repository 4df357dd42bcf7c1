// The type that a value has while it runs: what isinstance asks, and what a pickle's type tags say.
#pragma once

#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"

namespace flambeau::script {

class Unit;

// Lists and dicts know what they were made to hold. Throws Error(kLimit) for tuples nested deeper than types
// may be.
Type runtime_type(const IValue& value);
bool is_instance(const Unit* unit, const IValue& value, const Type& type);

}  // namespace flambeau::script
