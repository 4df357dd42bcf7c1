// Rows between real numbers and their integers, and sums of products of integers; compiled for every level of
// the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::ops {

// Depths of integer products are padded with zeros to a multiple of this.
constexpr size_t kIntegerLanes = 32;

// q = round(x * inverse + zero_point), within the range of the type; what is no number becomes the largest.
#define FLAMBEAU_DECLARE_INTEGER_ROWS(isa)                                                                   \
  namespace isa {                                                                                            \
  void quantize_signed(const float* x, float inverse, float zero_point, int8_t* q, size_t count);            \
  void quantize_unsigned(const float* x, float inverse, float zero_point, uint8_t* q, size_t count);         \
  void dequantize_signed(const int8_t* q, float scale, int32_t zero_point, float* x, size_t count);          \
  void dequantize_unsigned(const uint8_t* q, float scale, int32_t zero_point, float* x, size_t count);       \
  /* sums[r * columns + c] = left row r times right row c; rows of `depth`, at most 32768. */                \
  void integer_product(const int16_t* left, size_t rows, const int16_t* right, size_t columns, size_t depth, \
                       size_t step, int32_t* sums, bool adds);                                               \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_INTEGER_ROWS)
#undef FLAMBEAU_DECLARE_INTEGER_ROWS

}  // namespace flambeau::ops
