// The innermost part of copy_transposed, for each level of the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::ops {

constexpr int64_t kTile = 32;

// `rows` that lie row_step apart in the target, each of `columns` packed elements; in the source the rows
// are packed, and columns lie column_step apart. Of both at most kTile.
using CopyTile = void (*)(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step,
                          int64_t rows, int64_t columns);

#define FLAMBEAU_DECLARE(isa)            \
  namespace isa {                        \
  CopyTile tile_of(size_t element_size); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

}  // namespace flambeau::ops
