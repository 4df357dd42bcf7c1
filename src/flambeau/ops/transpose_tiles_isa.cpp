#include <cstring>
#include <utility>

#include "flambeau/ops/transpose_tiles.h"

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

// Vectors of 16 bytes, which every level has.
template <typename T>
constexpr int kLanes = 16 / sizeof(T);
template <typename T>
struct Vector {
  typedef T Type __attribute__((vector_size(16)));
};

// The first, or second, halves of two vectors, their elements in turn.
template <typename T, bool kSecond, size_t... I>
typename Vector<T>::Type interleave(typename Vector<T>::Type a, typename Vector<T>::Type b,
                                    std::index_sequence<I...>) {
  constexpr int kFirst = kSecond ? kLanes<T> / 2 : 0;
  return __builtin_shufflevector(a, b, (static_cast<int>(I / 2) + kFirst + (I % 2 == 0 ? 0 : kLanes<T>))...);
}

// A square of kLanes rows and columns. Each round interleaves the upper half with the lower one; as many
// rounds as the logarithm of its side turn it. Written without loops, so that all of it stays in registers.
template <typename T, int kRound, size_t... I>
[[gnu::always_inline]] inline void turn_rows(typename Vector<T>::Type (&rows)[kLanes<T>],
                                             std::index_sequence<I...> half) {
  if constexpr (kRound < kLanes<T>) {
    constexpr auto kIndices = std::make_index_sequence<kLanes<T>>();
    constexpr int kHalf = kLanes<T> / 2;
    typename Vector<T>::Type mixed[kLanes<T>];
    ((mixed[2 * I] = interleave<T, false>(rows[I], rows[I + kHalf], kIndices),
      mixed[2 * I + 1] = interleave<T, true>(rows[I], rows[I + kHalf], kIndices)),
     ...);
    turn_rows<T, kRound * 2>(mixed, half);
    ((rows[I] = mixed[I], rows[I + kHalf] = mixed[I + kHalf]), ...);
  }
}
template <typename T, size_t... I>
[[gnu::always_inline]] inline void turn(const T* from, size_t from_step, uint8_t* to, int64_t to_step,
                                        std::index_sequence<I...>) {
  typename Vector<T>::Type rows[kLanes<T>];
  (std::memcpy(&rows[I], from + I * from_step, 16), ...);
  turn_rows<T, 1>(rows, std::make_index_sequence<kLanes<T> / 2>());
  (std::memcpy(to + static_cast<int64_t>(I) * to_step, &rows[I], 16), ...);
}

// Goes through a block of its own: columns that lie a power of two apart would push each other out of the
// cache before their lines are used up.
template <typename T>
void copy_tile(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step, int64_t rows,
               int64_t columns) {
  T block[kTile][kTile];
  for (int64_t c = 0; c < columns; ++c) {
    if (rows == kTile) {
      std::memcpy(block[c], from + c * column_step, sizeof(block[c]));
    } else {
      std::memcpy(block[c], from + c * column_step, static_cast<size_t>(rows) * sizeof(T));
    }
  }
  constexpr int64_t kSide = kLanes<T>;
  for (int64_t r = 0; r < rows; r += kSide) {
    for (int64_t c = 0; c < columns; c += kSide) {
      uint8_t* const target = to + r * row_step + c * static_cast<int64_t>(sizeof(T));
      if (rows - r >= kSide && columns - c >= kSide) {
        turn(&block[c][r], kTile, target, row_step, std::make_index_sequence<kLanes<T>>());
        continue;
      }
      for (int64_t i = 0; i < kSide && r + i < rows; ++i) {
        for (int64_t j = 0; j < kSide && c + j < columns; ++j)
          std::memcpy(target + i * row_step + j * static_cast<int64_t>(sizeof(T)), &block[c + j][r + i],
                      sizeof(T));
      }
    }
  }
}

struct Sixteen {
  uint64_t parts[2];
};

void copy_tile_of_sixteen(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step,
                          int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c)
      std::memcpy(to + r * row_step + c * 16, from + c * column_step + r * 16, sizeof(Sixteen));
  }
}

}  // namespace

CopyTile tile_of(size_t element_size) {
  switch (element_size) {
    case 1:
      return &copy_tile<uint8_t>;
    case 2:
      return &copy_tile<uint16_t>;
    case 4:
      return &copy_tile<uint32_t>;
    case 8:
      return &copy_tile<uint64_t>;
    default:
      return &copy_tile_of_sixteen;
  }
}

}  // namespace flambeau::ops::FLAMBEAU_ISA
