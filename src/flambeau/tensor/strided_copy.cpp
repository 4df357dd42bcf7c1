#include "flambeau/tensor/strided_copy.h"

#include <cstring>

namespace flambeau {
namespace {

template <size_t kSize>
void copy_row(const uint8_t* from, int64_t stride, int64_t count, uint8_t* to) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * kSize);
    return;
  }
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * kSize, from + i * stride * kSize, kSize);
}

template <size_t kSize>
void copy_all(const uint8_t* from, const Geometry& geometry, uint8_t* to) {
  const Dims& sizes = geometry.sizes;
  const size_t rank = sizes.size();
  from += geometry.offset * static_cast<int64_t>(kSize);
  if (rank == 0) {
    std::memcpy(to, from, kSize);
    return;
  }
  const int64_t row = sizes[rank - 1];
  Dims index;
  index.resize(rank);
  int64_t at = 0;
  for (;;) {
    copy_row<kSize>(from + at * static_cast<int64_t>(kSize), geometry.strides[rank - 1], row, to);
    to += row * static_cast<int64_t>(kSize);
    size_t d = rank - 1;
    for (;;) {  // the odometer over all dimensions but the last
      if (d == 0) return;
      --d;
      at += geometry.strides[d];
      if (++index[d] < sizes[d]) break;
      at -= geometry.strides[d] * sizes[d];
      index[d] = 0;
    }
  }
}

}  // namespace

void copy_strided(ByteSpan from, const Geometry& geometry, size_t element_size, MutableByteSpan to) {
  if (element_count(geometry.sizes) == 0) return;
  switch (element_size) {
    case 1:
      return copy_all<1>(from.data(), geometry, to.data());
    case 2:
      return copy_all<2>(from.data(), geometry, to.data());
    case 4:
      return copy_all<4>(from.data(), geometry, to.data());
    case 8:
      return copy_all<8>(from.data(), geometry, to.data());
    default:
      return copy_all<16>(from.data(), geometry, to.data());
  }
}

}  // namespace flambeau
