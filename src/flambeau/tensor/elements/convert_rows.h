// One row of elements as another: between strides, and between element types by PyTorch's rules. The one home
// of what a conversion gives; where both rows are packed, its loops are compiled for each level of the
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/base/isa.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau {

// Steps are in bytes. Elements of 1, 2, 4, 8 or 16 bytes.
void copy_row(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step, size_t count,
              size_t element_size);
// Any plain or complex types: real to complex has no imaginary part, complex to real drops it. Throws
// Error(kUnsupported) for quantized and packed types.
void convert_row(DType from_type, const uint8_t* from, int64_t from_step, DType to_type, uint8_t* to,
                 int64_t to_step, size_t count);
// The first element, `count` times.
void repeat_packed(uint8_t* block, size_t element_size, size_t count);

// Converts a packed row to a packed one, at any alignment, with the same bits at every level.
using ConvertRow = void (*)(const void* from, void* to, size_t count);

#define FLAMBEAU_DECLARE(isa)                              \
  namespace isa {                                          \
  ConvertRow find_convert_row(int from_type, int to_type); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

// Null where there is no such loop: where what floats become as integers is not what the processor does.
inline ConvertRow find_convert_row(DType from, DType to) {
  return FLAMBEAU_PICK(find_convert_row)(static_cast<int>(from), static_cast<int>(to));
}

}  // namespace flambeau
