#include "flambeau/kernels/sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace flambeau::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> samples(size_t n) {
  std::vector<float> x(n);
  uint32_t state = 12345;
  for (float& value : x) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) * 0x1p-24F;
  }
  return x;
}

TEST(Sum, KeepsItsDigits) {
  for (const size_t n : {0, 1, 3, 15, 16, 63, 64, 65, 1000, 2048, 2049, 10000, 3000000}) {
    const std::vector<float> x = samples(n);
    double right = 0, squares = 0, differences = 0;
    for (const float value : x) {
      right += value;
      squares += static_cast<double>(value) * value;
      differences += (value - 0.5) * (value - 0.5);
    }
    EXPECT_NEAR(sum(x.data(), n), right, 2e-7 * right) << n;
    EXPECT_NEAR(sum_squares(x.data(), n), squares, 3e-7 * squares) << n;
    EXPECT_NEAR(sum_square_differences(x.data(), n, 0.5F), differences, 5e-7 * differences) << n;
    const std::vector<double> wide(x.begin(), x.end());
    EXPECT_NEAR(sum(wide.data(), n), right, 1e-12 * right) << n;
  }
}

TEST(Sum, InPiecesAndOfComplexNumbers) {
  const std::vector<float> x = samples(9000);
  RunningSum<float> running;
  for (size_t i = 0; i < x.size(); i += 1000) running.add(x.data() + i, 1000);
  EXPECT_NEAR(running.total(), sum(x.data(), x.size()), 1e-3);
  const auto* const pairs = reinterpret_cast<const std::complex<float>*>(x.data());
  double real = 0, imaginary = 0;
  for (size_t i = 0; i < 4500; ++i) {
    real += pairs[i].real();
    imaginary += pairs[i].imag();
  }
  for (const size_t n : {0, 1, 5}) {
    std::complex<double> right = 0;
    for (size_t i = 0; i < n; ++i) right += std::complex<double>(pairs[i]);
    EXPECT_NEAR(std::abs(std::complex<double>(sum(pairs, n)) - right), 0, 1e-6);
  }
  const std::complex<float> total = sum(pairs, 4500);
  EXPECT_NEAR(total.real(), real, 2e-7 * real);
  EXPECT_NEAR(total.imag(), imaginary, 2e-7 * imaginary);
}

TEST(Sum, IntegersWrapAround) {
  std::vector<int64_t> x(1000, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(sum(x.data(), x.size()), -1000);
  x.assign(70, 3);
  EXPECT_EQ(sum(x.data(), 70), 210);
  EXPECT_EQ(sum_squares(x.data(), 70), 630);
  EXPECT_EQ(product(x.data(), 20), 3486784401);
  EXPECT_EQ(product(x.data(), 0), 1);
}

TEST(Sum, ExtremesAndTheirPlaces) {
  for (const size_t n : {1, 2, 63, 64, 65, 500, 5000}) {
    std::vector<float> x = samples(n);
    const size_t place = n * 2 / 3;
    x[place] = 5;
    if (place + 1 < n) x[n - 1] = 5;
    EXPECT_EQ(maximum(x.data(), n), 5);
    EXPECT_EQ(arg_maximum(x.data(), n), place) << n;
    x[place] = -5;
    EXPECT_EQ(minimum(x.data(), n), -5);
    EXPECT_EQ(arg_minimum(x.data(), n), place) << n;
    x[place] = kNan;
    x[n - 1] = kNan;
    EXPECT_TRUE(std::isnan(maximum(x.data(), n))) << n;
    EXPECT_TRUE(std::isnan(minimum(x.data(), n))) << n;
    EXPECT_EQ(arg_maximum(x.data(), n), place) << n;
    EXPECT_EQ(arg_minimum(x.data(), n), place) << n;
  }
  const std::vector<int64_t> integers = {3, -7, 9, 9, -7};
  EXPECT_EQ(maximum(integers.data(), 5), 9);
  EXPECT_EQ(arg_maximum(integers.data(), 5), 2U);
  EXPECT_EQ(arg_minimum(integers.data(), 5), 1U);
  const std::vector<float> endless(100, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(arg_maximum(endless.data(), 100), 0U);
}

TEST(Sum, AnyAndAll) {
  std::vector<float> x(600, 0.0F);
  EXPECT_FALSE(any(x.data(), 600));
  EXPECT_FALSE(all(x.data(), 600));
  EXPECT_TRUE(all(x.data(), 0));
  x[599] = kNan;
  EXPECT_TRUE(any(x.data(), 600));
  x.assign(600, -1.0F);
  EXPECT_TRUE(all(x.data(), 600));
  x[300] = -0.0F;
  EXPECT_FALSE(all(x.data(), 600));
}

TEST(Sum, AcrossRows) {
  constexpr size_t kRows = 5000, kColumns = 300, kStride = 310;
  std::vector<float> x = samples(kRows * kStride);
  x[17 * kStride + 5] = 7;
  x[18 * kStride + 5] = 7;
  x[40 * kStride + 9] = kNan;
  x[50 * kStride + 9] = kNan;
  std::vector<float> sums(kColumns), most(kColumns), least(kColumns), products(kColumns);
  std::vector<int64_t> most_at(kColumns), least_at(kColumns);
  sum_rows(x.data(), kRows, kColumns, kStride, sums.data());
  maximum_rows(x.data(), kRows, kColumns, kStride, most.data(), most_at.data());
  minimum_rows(x.data(), kRows, kColumns, kStride, least.data(), least_at.data());
  product_rows(x.data(), 3, kColumns, kStride, products.data());
  EXPECT_EQ(most_at[5], 17);
  EXPECT_EQ(most_at[9], 40);
  EXPECT_EQ(least_at[9], 40);
  EXPECT_TRUE(std::isnan(most[9]) && std::isnan(least[9]) && std::isnan(sums[9]));
  for (size_t j = 0; j < kColumns; ++j) {
    if (j == 9) continue;
    std::vector<float> column(kRows);
    double right = 0;
    for (size_t i = 0; i < kRows; ++i) right += column[i] = x[i * kStride + j];
    EXPECT_NEAR(sums[j], right, 3e-7 * right);
    EXPECT_EQ(most[j], maximum(column.data(), kRows));
    EXPECT_EQ(static_cast<size_t>(most_at[j]), arg_maximum(column.data(), kRows));
    EXPECT_EQ(static_cast<size_t>(least_at[j]), arg_minimum(column.data(), kRows));
    EXPECT_EQ(products[j], column[0] * column[1] * column[2]);
  }
  maximum_rows(x.data(), 2, 3, kStride, most.data(), nullptr);
  EXPECT_EQ(most[0], std::max(x[0], x[kStride]));
  sum_rows(x.data(), 0, 3, kStride, sums.data());
  EXPECT_EQ(sums[0], 0);
}

}  // namespace
}  // namespace flambeau::kernels
