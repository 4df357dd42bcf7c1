// Values of scripts as those that operators take and give, and back: the one place where the two meet.
#pragma once

#include "flambeau/script/values/boxes.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"
#include "flambeau/value/value.h"

namespace flambeau::interpreter {

using script::IValue;

// As an argument of that type: numbers of data types, layouts and memory formats become those. What does not
// fit stays what it is, for whoever binds arguments to refuse. Throws Error(kInvalidArgument) for what no
// operator takes: dicts, objects of a script.
Value to_value(const IValue& value, const Type& type);
// By what it is alone.
Value to_value(const IValue& value);

// As a result of that type. An undefined tensor is None.
IValue to_ivalue(Value value, const Type& type);
// By what it is alone.
IValue to_ivalue(Value value);

}  // namespace flambeau::interpreter
