// What a value is at run time.
#pragma once

#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"

namespace flambeau::script {
class Unit;
}

namespace flambeau::interpreter {

using script::IValue;

// Whether a value is of that type, or of one below it, as `isinstance` says: lists and dicts by the types they
// were made with, tuples element by element, objects by their class.
bool is_instance(const IValue& value, const Type& type, const script::Unit& unit);

// The type that a value has by itself. Of an object, its class.
Type type_of(const IValue& value);

}  // namespace flambeau::interpreter
