// Tiles of 8 x 8 elements, or of 16 x 16 where registers hold them: those fill whole cache lines, which
// matters where the rows of the target lie a power of two apart and so compete for the same places of the
// cache.
#include <cstring>

#include "flambeau/kernels/transpose.h"
#include "flambeau/kernels/vectors_isa.h"

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

constexpr size_t kTile = 8;
constexpr size_t kStripe = 64;

struct Pair {
  uint64_t low;
  uint64_t high;
};

template <typename T>
void tile(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step) {
  T block[kTile][kTile];
  for (size_t c = 0; c < kTile; ++c) {
    T column[kTile];
    std::memcpy(column, from + static_cast<int64_t>(c) * column_step, sizeof column);
    for (size_t r = 0; r < kTile; ++r) block[r][c] = column[r];
  }
  for (size_t r = 0; r < kTile; ++r) {
    std::memcpy(to + static_cast<int64_t>(r) * row_step, block[r], sizeof block[r]);
  }
}

using Eight = uint32_t __attribute__((vector_size(32)));

// Pairs, then fours, then halves change places.
template <>
void tile<uint32_t>(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step) {
  Eight c[kTile];
  for (size_t i = 0; i < kTile; ++i) {
    std::memcpy(&c[i], from + static_cast<int64_t>(i) * column_step, sizeof c[i]);
  }
  Eight a[kTile];
  for (size_t i = 0; i < kTile; i += 2) {
    a[i] = __builtin_shufflevector(c[i], c[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    a[i + 1] = __builtin_shufflevector(c[i], c[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Eight b[kTile];
  for (size_t i = 0; i < kTile; i += 4) {
    for (size_t k = 0; k < 2; ++k) {
      b[i + 2 * k] = __builtin_shufflevector(a[i + k], a[i + 2 + k], 0, 1, 8, 9, 4, 5, 12, 13);
      b[i + 2 * k + 1] = __builtin_shufflevector(a[i + k], a[i + 2 + k], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (size_t k = 0; k < 4; ++k) {
    const Eight low = __builtin_shufflevector(b[k], b[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    const Eight high = __builtin_shufflevector(b[k], b[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    std::memcpy(to + static_cast<int64_t>(k) * row_step, &low, sizeof low);
    std::memcpy(to + static_cast<int64_t>(k + 4) * row_step, &high, sizeof high);
  }
}

// Of elements of four bytes, moved as floats.
constexpr size_t kLargeTile = kLanes<float> == 16 ? 16 : 0;
[[maybe_unused]] void large_tile(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step) {
  Vector<float> square[kLanes<float>];
  for (int i = 0; i < kLanes<float>; ++i) std::memcpy(&square[i], from + i * column_step, sizeof square[i]);
  transpose<float>(square);
  for (int i = 0; i < kLanes<float>; ++i) std::memcpy(to + i * row_step, &square[i], sizeof square[i]);
}

template <typename T>
void edge(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step, size_t rows,
          size_t columns) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      std::memcpy(to + static_cast<int64_t>(r) * row_step + static_cast<int64_t>(c * sizeof(T)),
                  from + static_cast<int64_t>(c) * column_step + static_cast<int64_t>(r * sizeof(T)),
                  sizeof(T));
    }
  }
}

template <typename T>
void run(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step, size_t rows,
         size_t columns) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  for (size_t stripe = 0; stripe < rows; stripe += kStripe) {
    const size_t end = stripe + kStripe < rows ? stripe + kStripe : rows;
    size_t c = 0;
    if constexpr (sizeof(T) == sizeof(float) && kLargeTile != 0) {
      const bool fits = (end - stripe) % (sizeof(Vector<float>) / sizeof(float)) == 0;
      for (; fits && c + kLargeTile <= columns; c += kLargeTile) {
        for (size_t r = stripe; r < end; r += kLargeTile) {
          large_tile(from + static_cast<int64_t>(c) * column_step + static_cast<int64_t>(r) * kSize,
                     column_step, to + static_cast<int64_t>(r) * row_step + static_cast<int64_t>(c) * kSize,
                     row_step);
        }
      }
    }
    for (; c < columns; c += kTile) {
      const uint8_t* const column = from + static_cast<int64_t>(c) * column_step;
      uint8_t* const target = to + static_cast<int64_t>(c) * kSize;
      size_t r = stripe;
      if (c + kTile <= columns) {
        for (; r + kTile <= end; r += kTile) {
          tile<T>(column + static_cast<int64_t>(r) * kSize, column_step,
                  target + static_cast<int64_t>(r) * row_step, row_step);
        }
      }
      if (r < end) {
        const size_t width = c + kTile <= columns ? kTile : columns - c;
        edge<T>(column + static_cast<int64_t>(r) * kSize, column_step,
                target + static_cast<int64_t>(r) * row_step, row_step, end - r, width);
      }
    }
  }
}

template <typename T>
void run_back(const uint8_t* __restrict from, uint8_t* __restrict to, size_t count) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from - static_cast<int64_t>(i * sizeof(T)), sizeof(T));
    std::memcpy(to + i * sizeof(T), &element, sizeof(T));
  }
}

}  // namespace

void reverse(const uint8_t* from, uint8_t* to, size_t count, size_t element_size) {
  switch (element_size) {
    case 1:
      return run_back<uint8_t>(from, to, count);
    case 2:
      return run_back<uint16_t>(from, to, count);
    case 4:
      return run_back<uint32_t>(from, to, count);
    case 8:
      return run_back<uint64_t>(from, to, count);
    default:
      return run_back<Pair>(from, to, count);
  }
}

void transpose(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step, size_t rows,
               size_t columns, size_t element_size) {
  switch (element_size) {
    case 1:
      return run<uint8_t>(from, column_step, to, row_step, rows, columns);
    case 2:
      return run<uint16_t>(from, column_step, to, row_step, rows, columns);
    case 4:
      return run<uint32_t>(from, column_step, to, row_step, rows, columns);
    case 8:
      return run<uint64_t>(from, column_step, to, row_step, rows, columns);
    default:
      return run<Pair>(from, column_step, to, row_step, rows, columns);
  }
}

}  // namespace flambeau::kernels::FLAMBEAU_ISA
