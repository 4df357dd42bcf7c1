// What a .npy array says of itself, before anybody looks at its elements.
#pragma once

#include <cstdint>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

struct NpyArray {
  DType dtype;
  Geometry geometry;
  size_t data_start;  // from the first byte of the array
  size_t data_size;
  bool is_swapped;  // big-endian

  // The elements in this machine's order.
  std::vector<uint8_t> elements(ByteSpan data) const;
};

// The reader stands at the array's first byte and has at least its header; `size` is what the whole array
// takes. Throws as read_npy.
NpyArray read_npy_array(ByteReader& reader, uint64_t size);

}  // namespace flambeau
