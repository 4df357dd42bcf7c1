// Copies where the source's memory runs along another dimension than the target's.
#pragma once

#include "flambeau/ops/context.h"
#include "flambeau/ops/walk.h"

namespace flambeau::ops {

// Copies elements of one size between the walk's operands, 0 (to) and 1 (from), a tile of two dimensions at a
// time, so that each line of memory that is read serves all its elements. False, and nothing done, where the
// walk is of another kind.
bool copy_transposed(Context& context, const Walk& walk, const uint8_t* from, uint8_t* to,
                     size_t element_size);

}  // namespace flambeau::ops
