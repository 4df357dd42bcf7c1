// The element types as people write them.
#pragma once

#include <optional>
#include <string_view>

#include "flambeau/tensor/dtype.h"

namespace flambeau {

// What dtype_from_name() knows and what people write for short: "bf16", "fp16", "f32", "i64"; upper case too.
// Files know no such names.
std::optional<DType> parse_dtype(std::string_view text);

// As PyTorch's C++ calls it in messages: "Float", "Long", "ComplexDouble".
std::string_view dtype_word(DType dtype);

}  // namespace flambeau
