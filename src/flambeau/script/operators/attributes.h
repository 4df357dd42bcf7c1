// Attributes of tensors and devices that are operators: x.dtype is prim::dtype(x).
#pragma once

#include <string_view>

#include "flambeau/value/type.h"

namespace flambeau::script {

// "prim::dtype" of "dtype"; empty when values of the type have no such attribute.
std::string_view attribute_operator(const Type& type, std::string_view attribute);

}  // namespace flambeau::script
