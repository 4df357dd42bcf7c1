// Conversions that TorchScript makes without being asked, where no overload fits as it is.
#pragma once

#include <string_view>

#include "flambeau/value/type.h"

namespace flambeau::script {

struct Conversion {
  TypeKind from;
  TypeKind wanted;
  std::string_view operator_name;
  TypeKind gives;
};

// Null when there is none: then the value is taken as it is, or not at all.
const Conversion* find_conversion(const Type& from, const Type& wanted);

}  // namespace flambeau::script
