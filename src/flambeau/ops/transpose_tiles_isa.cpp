#include <cstring>

#include "flambeau/ops/transpose_tiles.h"

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

// Of a size that is known when compiling, so that the loops become moves of vectors.
template <typename T, int64_t kRows, int64_t kColumns>
void copy_whole(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step) {
  T block[kColumns][kRows];
  for (int64_t c = 0; c < kColumns; ++c) std::memcpy(block[c], from + c * column_step, sizeof(block[c]));
  for (int64_t r = 0; r < kRows; ++r) {
    T line[kColumns];
    for (int64_t c = 0; c < kColumns; ++c) line[c] = block[c][r];
    std::memcpy(to + r * row_step, line, sizeof(line));
  }
}

template <typename T>
void copy_tile(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step, int64_t rows,
               int64_t columns) {
  constexpr int64_t kPart = 8;
  for (int64_t r = 0; r < rows; r += kPart) {
    for (int64_t c = 0; c < columns; c += kPart) {
      const uint8_t* const source = from + c * column_step + r * static_cast<int64_t>(sizeof(T));
      uint8_t* const target = to + r * row_step + c * static_cast<int64_t>(sizeof(T));
      if (rows - r >= kPart && columns - c >= kPart) {
        copy_whole<T, kPart, kPart>(source, column_step, target, row_step);
        continue;
      }
      for (int64_t i = 0; i < kPart && r + i < rows; ++i) {
        for (int64_t j = 0; j < kPart && c + j < columns; ++j) {
          std::memcpy(target + i * row_step + j * static_cast<int64_t>(sizeof(T)),
                      source + j * column_step + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
        }
      }
    }
  }
}

struct Sixteen {
  uint64_t parts[2];
};

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
      return &copy_tile<Sixteen>;
  }
}

}  // namespace flambeau::ops::FLAMBEAU_ISA
