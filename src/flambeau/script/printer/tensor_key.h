// When two constant tensors are one.
#pragma once

#include <optional>
#include <string>

#include "flambeau/tensor/tensor.h"

namespace flambeau::script {

// The same for tensors that are equal in PyTorch's eyes: type, device, sizes and values, zeros of either sign
// being the same. Nothing for a tensor that equals none: one that holds a NaN, or has no plain values.
std::optional<std::string> tensor_key(const Tensor& tensor);

}  // namespace flambeau::script
