// From quantized integers to the real numbers they stand for.
#pragma once

#include "flambeau/tensor/tensor.h"

namespace flambeau {

// A contiguous float32 tensor, equal to torch.dequantize's; per tensor and per channel, packed types too.
// Throws Error(kInvalidArgument) for a tensor that is not quantized, Error(kUnsupported) for a packed one
// that is not contiguous, and what reading the storages throws.
Tensor dequantize(const Tensor& tensor);

}  // namespace flambeau
