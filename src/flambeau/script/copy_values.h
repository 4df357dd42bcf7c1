// Values that go from one unit to another, or become a second of their kind: objects of classes with other
// names, lists and dicts of such.
#pragma once

#include <string>
#include <unordered_map>

#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

// Class names that change; others stay.
using RenamedClasses = std::unordered_map<std::string, std::string>;

Type rename_classes(const Type& type, const RenamedClasses& renamed);

// A copy whose objects are of the unit's classes. What was shared stays shared; tensors and objects of
// PyTorch's own are the same ones as before. Throws Error(kNotFound) for a class that the unit does not have,
// Error(kLimit) for what nests too deep.
IValue copy_value(const IValue& value, const Unit& unit, const RenamedClasses& renamed);

}  // namespace flambeau::script
