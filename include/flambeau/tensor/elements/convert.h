// Changing the element type of a tensor, with the values PyTorch's `tensor.to(dtype)` gives on x86.
// docs/tensors.md has the rules, and the few places where PyTorch disagrees with itself.
#pragma once

#include "flambeau/base/parallel.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

// A contiguous tensor of the new type; this one when it already is both. Device and requires_grad are kept,
// the latter only by types that can have a gradient (floating and complex).
// Throws Error(kUnsupported) for quantized, packed, bits and sparse tensors, Error(kInvalidArgument) for
// an undefined tensor, and what reading the storage throws.
Tensor convert(const Tensor& tensor, DType to, ThreadPool* pool = nullptr);

// True when convert() knows the pair of types.
bool can_convert(DType from, DType to);

}  // namespace flambeau
