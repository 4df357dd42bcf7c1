// PyTorch can mark a tensor as "conjugate" or "negate when read" instead of changing its values.
#pragma once

#include "flambeau/tensor/tensor.h"

namespace flambeau {

// The tensor with its marks carried out: a contiguous tensor of its own, computed when first read. The
// tensor itself when nothing is marked. Throws Error(kCorrupt) for a mark that the type cannot have.
Tensor resolve_bits(const Tensor& tensor, bool conjugate, bool negate);

}  // namespace flambeau
