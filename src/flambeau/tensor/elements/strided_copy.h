// Gathers the elements of a strided view into packed order.
#pragma once

#include "flambeau/base/bytes.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

// `geometry` has been checked against `from`; `to` holds exactly its elements. Element sizes are 1, 2, 4,
// 8 or 16 bytes; neither side need be aligned.
void copy_strided(ByteSpan from, const Geometry& geometry, size_t element_size, MutableByteSpan to);

}  // namespace flambeau
