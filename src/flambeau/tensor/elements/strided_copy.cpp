#include "flambeau/tensor/elements/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "flambeau/tensor/elements/strided_rows.h"

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

// In tiles, so that a cache line that was read for one row still serves the next ones.
template <size_t kSize>
void copy_matrix(const StridedRows::Matrix& matrix, const uint8_t* from, uint8_t* to) {
  constexpr int64_t kTile = 32;
  constexpr auto kStep = static_cast<int64_t>(kSize);
  for (int64_t top = 0; top < matrix.rows; top += kTile) {
    const int64_t bottom = std::min(matrix.rows, top + kTile);
    for (int64_t left = 0; left < matrix.columns; left += kTile) {
      const int64_t right = std::min(matrix.columns, left + kTile);
      for (int64_t row = top; row < bottom; ++row) {
        for (int64_t column = left; column < right; ++column) {
          std::memcpy(to + (row * matrix.columns + column) * kStep,
                      from + (row + column * matrix.column_stride) * kStep, kSize);
        }
      }
    }
  }
}

template <size_t kSize>
void copy_all(ByteSpan from, const Geometry& geometry, MutableByteSpan to) {
  const StridedRows rows(geometry);
  if (rows.is_turned()) {
    rows.for_each_matrix([&](const StridedRows::Matrix& matrix) {
      copy_matrix<kSize>(matrix, from.data() + static_cast<size_t>(matrix.at) * kSize,
                         to.data() + static_cast<size_t>(matrix.index) * kSize);
    });
    return;
  }
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
