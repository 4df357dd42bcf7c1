// What PyTorch's messages call element types where they name the type of C++, not the word for it
// (dtype_word): "float", "long int", "c10::complex<double>".
#pragma once

#include <string_view>

#include "flambeau/tensor/dtype.h"

namespace flambeau::ops {

std::string_view dtype_type_name(DType dtype);

}  // namespace flambeau::ops
