// Copies that change the order: rows that become columns, what a permuted tensor needs to become row-major.
// Bound by memory, not by the turning, for elements of 4 bytes; near to it for the others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::kernels {

// to[row][column] = from[column][row]: the elements of a row lie packed in `to`, those of a column in `from`.
// Steps are in bytes: from one row to the next in `to`, from one column to the next in `from`. Elements of 1,
// 2, 4, 8 or 16 bytes. `from` and `to` must not overlap.
void transpose(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step, size_t rows,
               size_t columns, size_t element_size);

// to[i] = from[-i]: a packed row backwards; `from` is its last element.
void reverse(const uint8_t* from, uint8_t* to, size_t count, size_t element_size);

#define FLAMBEAU_DECLARE(level)                                                                        \
  namespace level {                                                                                    \
  void transpose(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step, size_t rows, \
                 size_t columns, size_t element_size);                                                 \
  void reverse(const uint8_t* from, uint8_t* to, size_t count, size_t element_size);                   \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

}  // namespace flambeau::kernels
