#include "flambeau/kernels/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "support/hex.h"

namespace flambeau::kernels {
namespace {

TEST(Sort, OrdersArePyTorchs) {
  std::ifstream file(FLAMBEAU_GOLDEN_DIR "/sort/orders.txt");
  ASSERT_TRUE(file);
  ThreadPool pool(1);
  std::string line;
  DType dtype = DType::kFloat32;
  std::vector<uint8_t> row;
  size_t checked = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name, flags;
    words >> name >> flags;
    if (name == "row") {
      dtype = *dtype_from_name(flags);
      words >> flags;
      row = from_hex(flags);
      continue;
    }
    size_t k = 0;
    words >> k;
    const size_t n = row.size() / dtype_size(dtype);
    const size_t results = name == "sort" ? n : name == "topk" ? k : 1;
    std::vector<int64_t> expected(results), indices(results);
    for (int64_t& index : expected) words >> index;
    std::vector<uint8_t> values(results * dtype_size(dtype));
    if (name == "sort") {
      sort_rows(pool, dtype, row.data(), 1, n, flags[0] == '1', flags[1] == '1', values.data(),
                indices.data());
    } else if (name == "topk") {
      top_k_rows(pool, dtype, row.data(), 1, n, k, flags[0] == '1', flags[1] == '1', values.data(),
                 indices.data());
    } else {
      kth_rows(pool, dtype, row.data(), 1, n, k, values.data(), indices.data());
    }
    ASSERT_EQ(indices, expected) << line;
    for (size_t i = 0; i < results; ++i) {
      EXPECT_TRUE(std::equal(values.begin() + i * dtype_size(dtype),
                             values.begin() + (i + 1) * dtype_size(dtype),
                             row.begin() + indices[i] * dtype_size(dtype)));
    }
    ++checked;
  }
  EXPECT_GT(checked, 300U);
}

template <typename T>
void check_stable(const std::vector<T>& row) {
  for (const bool descending : {false, true}) {
    std::vector<int64_t> indices(row.size()), expected(row.size());
    sort_row(row.data(), row.size(), descending, true, indices.data());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](int64_t i, int64_t j) {
      const T a = descending ? row[j] : row[i];
      const T b = descending ? row[i] : row[j];
      return a < b || (a == a && b != b);
    });
    EXPECT_EQ(indices, expected);
  }
}

TEST(Sort, LongRowsOfEveryWideType) {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;
  std::vector<uint64_t> naturals;
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const auto small = static_cast<int64_t>(state >> 40) % 5000 - 2500;
    floats.push_back(i % 97 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                 : static_cast<float>(small) / 7.0F);
    doubles.push_back(static_cast<double>(small) * 1e200 * (i % 3 - 1));
    integers.push_back(i % 2 == 0 ? small : static_cast<int64_t>(state));
    naturals.push_back(state);
  }
  check_stable(floats);
  check_stable(doubles);
  check_stable(integers);
  check_stable(naturals);
}

TEST(Sort, RowsInThreads) {
  ThreadPool pool(3);
  constexpr size_t kRows = 50, kColumns = 3000;
  std::vector<int16_t> in(kRows * kColumns), values(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int16_t>(i * 7919);
  std::vector<int64_t> indices(in.size());
  sort_rows(pool, DType::kInt16, in.data(), kRows, kColumns, false, true, values.data(), indices.data());
  for (size_t row = 0; row < kRows; ++row) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(row * kColumns);
    EXPECT_TRUE(std::is_sorted(begin, begin + kColumns));
  }
}

TEST(Sort, ComplexNumbersHaveNoOrder) {
  ThreadPool pool(1);
  const float in[2] = {1, 2};
  float values[2];
  int64_t index = 0;
  try {
    sort_rows(pool, DType::kComplex64, in, 1, 1, false, false, values, &index);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "numbers of type complex64 have no order");
  }
}

}  // namespace
}  // namespace flambeau::kernels
