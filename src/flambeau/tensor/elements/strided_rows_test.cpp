#include "flambeau/tensor/elements/strided_rows.h"

#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

std::vector<int64_t> places(const StridedRows& rows, int64_t begin, int64_t end) {
  std::vector<int64_t> found;
  rows.for_each(begin, end, [&](int64_t at, int64_t stride, int64_t count, int64_t index) {
    EXPECT_EQ(index, begin + static_cast<int64_t>(found.size()));
    for (int64_t i = 0; i < count; ++i) found.push_back(at + i * stride);
  });
  return found;
}

TEST(StridedRows, ContiguousIsOneRow) {
  const StridedRows rows({{2, 1, 3, 4}, {12, 5, 4, 1}, 7});
  EXPECT_TRUE(rows.is_packed());
  int calls = 0;
  rows.for_each(0, 24, [&](int64_t at, int64_t stride, int64_t count, int64_t) {
    EXPECT_EQ(at, 7);
    EXPECT_EQ(stride, 1);
    EXPECT_EQ(count, 24);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST(StridedRows, AnyRangeIsAPieceOfTheWhole) {
  const Geometry geometry{{3, 2, 4}, {2, 40, 7}, 5};
  const StridedRows rows(geometry);
  EXPECT_FALSE(rows.is_packed());
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      for (int64_t k = 0; k < 4; ++k) expected.push_back(5 + i * 2 + j * 40 + k * 7);
    }
  }
  for (int64_t begin = 0; begin <= 24; ++begin) {
    for (int64_t end = begin; end <= 24; ++end) {
      EXPECT_EQ(places(rows, begin, end),
                std::vector<int64_t>(expected.begin() + begin, expected.begin() + end));
    }
  }
}

TEST(StridedRows, FindsTurnedMatrices) {
  const StridedRows rows({{2, 3, 4}, {50, 1, 10}, 5});
  EXPECT_TRUE(rows.is_turned());
  std::vector<int64_t> at;
  rows.for_each_matrix([&](const StridedRows::Matrix& matrix) {
    EXPECT_EQ(matrix.index, static_cast<int64_t>(at.size()) * 12);
    EXPECT_EQ(matrix.rows, 3);
    EXPECT_EQ(matrix.columns, 4);
    EXPECT_EQ(matrix.column_stride, 10);
    at.push_back(matrix.at);
  });
  EXPECT_EQ(at, (std::vector<int64_t>{5, 55}));
  EXPECT_FALSE(StridedRows({{3, 4}, {4, 1}, 0}).is_turned());
  EXPECT_FALSE(StridedRows({{3, 4}, {8, 2}, 0}).is_turned());
}

TEST(StridedRows, ScalarsAndEmptiness) {
  EXPECT_EQ(places(StridedRows({{}, {}, 3}), 0, 1), (std::vector<int64_t>{3}));
  EXPECT_EQ(StridedRows({{3, 0}, {1, 1}, 0}).count(), 0);
  EXPECT_EQ(places(StridedRows({{2, 2}, {0, 0}, 3}), 0, 4), (std::vector<int64_t>{3, 3, 3, 3}));
}

}  // namespace
}  // namespace flambeau
