// Moving one row of elements: between strides, and between element types by PyTorch's rules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/tensor/dtype.h"

namespace flambeau::ops {

// Steps are in bytes. Elements of 1, 2, 4, 8 or 16 bytes.
void copy_row(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step, size_t count,
              size_t element_size);
// Any plain or complex types: real to complex has no imaginary part, complex to real drops it. Throws
// Error(kUnsupported) for quantized and packed types.
void convert_row(DType from_type, const uint8_t* from, int64_t from_step, DType to_type, uint8_t* to,
                 int64_t to_step, size_t count);
// The first element, `count` times.
void repeat_packed(uint8_t* block, size_t element_size, size_t count);

}  // namespace flambeau::ops
