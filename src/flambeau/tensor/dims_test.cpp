#include "flambeau/tensor/dims.h"

#include <gtest/gtest.h>

#include <vector>

namespace flambeau {
namespace {

Dims counting(size_t count) {
  Dims dims;
  dims.resize(count);
  for (size_t i = 0; i < count; ++i) dims[i] = static_cast<int64_t>(i) + 1;
  return dims;
}

TEST(Dims, CopiesAndMovesShortAndLongLists) {
  for (const size_t count : {0, 1, 6, 7, 40}) {
    const Dims original = counting(count);
    Dims copy = original;
    EXPECT_EQ(copy, original);
    EXPECT_EQ(copy.size(), count);
    Dims moved = std::move(copy);
    EXPECT_EQ(moved, original);
    EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move): it must be a valid, empty list
    EXPECT_EQ(copy.begin(), copy.end());
    for (const size_t other : {0, 3, 9}) {
      Dims assigned = counting(other);
      assigned = original;
      EXPECT_EQ(assigned, original);
      assigned = counting(other);
      EXPECT_EQ(assigned, counting(other));
    }
  }
}

TEST(Dims, AssignsItself) {
  Dims dims = counting(8);
  const Dims& same = dims;
  dims = same;
  EXPECT_EQ(dims, counting(8));
}

TEST(Dims, IsASpanAndComparesByValue) {
  const Dims dims{2, 3, 4};
  const std::span<const int64_t> span = dims;
  EXPECT_EQ(std::vector<int64_t>(span.begin(), span.end()), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(Dims(span), dims);
  EXPECT_FALSE(dims == Dims({2, 3}));
  EXPECT_FALSE(dims == Dims({2, 3, 5}));
}

TEST(Dims, ResizingZeroes) {
  Dims dims{5, 5, 5};
  dims.resize(3);
  EXPECT_EQ(dims, (Dims{0, 0, 0}));
}

}  // namespace
}  // namespace flambeau
