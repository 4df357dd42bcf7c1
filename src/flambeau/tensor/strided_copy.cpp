#include "flambeau/tensor/strided_copy.h"

#include <cstring>

#include "flambeau/tensor/strided_rows.h"

namespace flambeau {
namespace {

template <size_t kSize>
void copy_row(const uint8_t* from, int64_t stride, int64_t count, uint8_t* to) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * kSize);
    return;
  }
  const int64_t step = stride * static_cast<int64_t>(kSize);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to, from, kSize);
    to += kSize;
    if (i + 1 < count) from += step;
  }
}

template <size_t kSize>
void copy_all(ByteSpan from, const Geometry& geometry, MutableByteSpan to) {
  const StridedRows rows(geometry);
  rows.for_each(0, rows.count(), [&](int64_t at, int64_t stride, int64_t count, int64_t index) {
    copy_row<kSize>(from.data() + static_cast<size_t>(at) * kSize, stride, count,
                    to.data() + static_cast<size_t>(index) * kSize);
  });
}

}  // namespace

void copy_strided(ByteSpan from, const Geometry& geometry, size_t element_size, MutableByteSpan to) {
  switch (element_size) {
    case 1:
      return copy_all<1>(from, geometry, to);
    case 2:
      return copy_all<2>(from, geometry, to);
    case 4:
      return copy_all<4>(from, geometry, to);
    case 8:
      return copy_all<8>(from, geometry, to);
    default:
      return copy_all<16>(from, geometry, to);
  }
}

}  // namespace flambeau
