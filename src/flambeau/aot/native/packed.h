// Weights that oneDNN has packed when the model was compiled: their description lies in the library as bytes
// of oneDNN's own structure. Unpacked, they are plain tensors again.
#pragma once

#include "flambeau/base/bytes.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::aot::native {

// As many bytes are read at `data` as the description says. Throws Error(kUnsupported) for a form that is not
// known, Error(kCorrupt) for a description that contradicts itself or the sizes that the library says.
Tensor unpack(const uint8_t* data, ByteSpan description, DType dtype, std::span<const int64_t> sizes);

}  // namespace flambeau::aot::native
