// Values of scripts as the trees that modules take and give, and back.
#pragma once

#include "flambeau/nn/tree.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"

namespace flambeau::migration {

using script::IValue;

// Throws Error(kUnsupported) for what a program can neither take nor give: objects, enumerators, futures;
// Error(kLimit) for what is nested too deep.
nn::Tree to_tree(const IValue& value);
// The same with real numbers in the place of quantized tensors.
nn::Tree to_real_tree(const IValue& value);
// The same value with tensors of its own, save quantized ones.
IValue with_own_tensors(const IValue& value, const Type& type);
// As a value of that type, as far as the type says.
IValue from_tree(const nn::Tree& tree, const Type& type);

}  // namespace flambeau::migration
