#include "flambeau/kernels/transpose.h"

#include <gtest/gtest.h>

#include <vector>

namespace flambeau::kernels {
namespace {

TEST(Transpose, GivesEveryElementOfEverySize) {
  for (const size_t size : {1U, 2U, 4U, 8U, 16U}) {
    for (const size_t rows : {1U, 7U, 8U, 64U, 75U}) {
      for (const size_t columns : {1U, 3U, 8U, 17U}) {
        const size_t gap = 3;  // elements between columns of the source and rows of the target
        std::vector<uint8_t> from(columns * (rows + gap) * size);
        for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 256);
        std::vector<uint8_t> to(rows * (columns + gap) * size, 0xee);
        transpose(from.data(), static_cast<int64_t>((rows + gap) * size), to.data(),
                  static_cast<int64_t>((columns + gap) * size), rows, columns, size);
        std::vector<uint8_t> expected(to.size(), 0xee);
        for (size_t r = 0; r < rows; ++r) {
          for (size_t c = 0; c < columns; ++c) {
            for (size_t b = 0; b < size; ++b) {
              expected[(r * (columns + gap) + c) * size + b] = from[(c * (rows + gap) + r) * size + b];
            }
          }
        }
        ASSERT_EQ(to, expected) << size << " bytes, " << rows << " x " << columns;
      }
    }
  }
}

TEST(Transpose, ReversesRowsOfEverySize) {
  for (const size_t size : {1U, 2U, 4U, 8U, 16U}) {
    for (const size_t count : {1U, 5U, 33U, 100U}) {
      std::vector<uint8_t> from(count * size);
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i);
      std::vector<uint8_t> to(from.size());
      reverse(from.data() + (count - 1) * size, to.data(), count, size);
      for (size_t i = 0; i < count; ++i) {
        for (size_t b = 0; b < size; ++b) ASSERT_EQ(to[i * size + b], from[(count - 1 - i) * size + b]);
      }
    }
  }
}

}  // namespace
}  // namespace flambeau::kernels
