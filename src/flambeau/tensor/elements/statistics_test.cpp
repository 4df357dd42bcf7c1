#include "flambeau/tensor/elements/statistics.h"

#include <cmath>

#include "flambeau/tensor/elements/convert.h"
#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::error_code;
using testing::error_text;
using testing::make_tensor;

TEST(Statistics, CountsAndSkipsNanAndInfinity) {
  std::vector<float> values = {1, -2, NAN, 4, INFINITY, -0.5F};
  for (const size_t padding : {0, 3, 40}) {  // in the tail, and in the vector loop
    values.resize(6 + padding, 0.0F);
    const Statistics result =
        statistics(make_tensor(DType::kFloat32, {static_cast<int64_t>(values.size())}, values));
    EXPECT_EQ(result.count, static_cast<int64_t>(values.size()));
    EXPECT_EQ(result.nan_count, 1);
    EXPECT_EQ(result.inf_count, 1);
    EXPECT_EQ(to_text(*result.min), "-2");
    EXPECT_EQ(to_text(*result.max), "inf");
    EXPECT_DOUBLE_EQ(*result.mean, 2.5 / static_cast<double>(4 + padding));
  }
}

TEST(Statistics, OfEveryPlainType) {
  const Tensor numbers = make_tensor<float>(DType::kFloat32, {4}, {0, 1, 4, 2});
  for (const DTypeInfo& info : all_dtypes()) {
    if (!can_convert(DType::kFloat32, info.dtype) || info.is_complex) continue;
    const Statistics result = statistics(convert(numbers, info.dtype));
    EXPECT_EQ(result.count, 4);
    EXPECT_EQ(to_double(*result.max), info.dtype == DType::kBool ? 1 : 4) << info.name;
    EXPECT_EQ(to_double(*result.min), info.dtype == DType::kFloat8E8M0FNU ? std::ldexp(1.0, -127) : 0);
    if (info.dtype != DType::kBool) {
      EXPECT_DOUBLE_EQ(*result.mean, 1.75) << info.name;
    }
  }
}

TEST(Statistics, IntegersAreExact) {
  const Tensor unsigned_ones = make_tensor<uint64_t>(DType::kUInt64, {3}, {UINT64_MAX, 1, UINT64_MAX});
  EXPECT_EQ(to_text(*statistics(unsigned_ones).max), "18446744073709551615");
  EXPECT_EQ(to_text(*statistics(unsigned_ones).min), "1");
  EXPECT_DOUBLE_EQ(*statistics(unsigned_ones).mean, 2.0 / 3 * 18446744073709551616.0);
  const Tensor signed_ones = make_tensor<int64_t>(DType::kInt64, {3}, {INT64_MIN, INT64_MAX, INT64_MAX - 1});
  EXPECT_EQ(to_text(*statistics(signed_ones).min), "-9223372036854775808");
  EXPECT_EQ(to_text(*statistics(signed_ones).max), "9223372036854775807");
  const Tensor bytes = make_tensor<int8_t>(DType::kInt8, {3}, {-128, 127, -128});
  EXPECT_EQ(to_text(*statistics(bytes).min), "-128");
  EXPECT_DOUBLE_EQ(*statistics(bytes).mean, -43);
}

TEST(Statistics, FloatsPrintShort) {
  EXPECT_EQ(to_text(*statistics(make_tensor<float>(DType::kFloat32, {1}, {0.1F})).min), "0.1");
  EXPECT_EQ(to_text(*statistics(make_tensor<double>(DType::kFloat64, {1}, {0.1})).min), "0.1");
}

TEST(Statistics, FollowsStrides) {
  std::vector<float> values(600);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor base = make_tensor(DType::kFloat32, {600}, values);
  const Tensor view = Tensor::strided(DType::kFloat32, {{20, 10}, {1, 30}, 5}, base.storage());
  const Statistics result = statistics(view);
  EXPECT_EQ(to_double(*result.min), 5);
  EXPECT_EQ(to_double(*result.max), 294);
  EXPECT_DOUBLE_EQ(*result.mean, 5 + 9.5 + 135);
}

TEST(Statistics, SumsPreciselyWithAnyNumberOfThreads) {
  std::vector<float> values(500000, 0.1F);
  values[0] = 1e8F;
  values[499999] = -1e8F;
  const Tensor tensor = make_tensor(DType::kFloat32, {500000}, values);
  ThreadPool pool(3);
  const double mean = *statistics(tensor).mean;
  EXPECT_NEAR(mean, 0.10000000149011612 * 499998 / 500000, 1e-11);
  EXPECT_EQ(*statistics(tensor, &pool).mean, mean);
  std::vector<double> doubles(100003, 0.1);
  EXPECT_NEAR(*statistics(make_tensor(DType::kFloat64, {100003}, doubles)).mean, 0.1, 1e-15);
}

TEST(Statistics, EmptyAndAllNan) {
  const Statistics empty = statistics(Tensor::zeros(DType::kFloat32, Dims{0, 4}));
  EXPECT_EQ(empty.count, 0);
  EXPECT_FALSE(empty.min || empty.max || empty.mean);
  const Statistics nans = statistics(make_tensor<float>(DType::kFloat32, {2}, {NAN, NAN}));
  EXPECT_EQ(nans.nan_count, 2);
  EXPECT_FALSE(nans.min || nans.max || nans.mean);
  const Statistics infinite = statistics(make_tensor<float>(DType::kFloat32, {2}, {INFINITY, -INFINITY}));
  EXPECT_EQ(to_text(*infinite.min), "-inf");
  EXPECT_FALSE(infinite.mean.has_value());
}

TEST(Statistics, ComplexIsOnlyCounted) {
  const Tensor tensor = make_tensor<float>(DType::kComplex64, {4}, {1, 2, NAN, INFINITY, 0, -INFINITY, 3, 4});
  const Statistics result = statistics(tensor);
  EXPECT_EQ(result.count, 4);
  EXPECT_EQ(result.nan_count, 1);
  EXPECT_EQ(result.inf_count, 1);
  EXPECT_FALSE(result.min || result.max || result.mean);
}

TEST(Statistics, QuantizedAndSparse) {
  const Tensor base = make_tensor<int8_t>(DType::kQInt8, {2}, {-4, 6});
  EXPECT_EQ(to_double(*statistics(Tensor::quantized(base, {.scale = 0.5})).max), 3);
  SparseParts parts;
  parts.indices = make_tensor<int64_t>(DType::kInt64, {1, 2}, {0, 5});
  parts.values = make_tensor<float>(DType::kFloat32, {2}, {3, 7});
  EXPECT_EQ(*statistics(Tensor::sparse(Layout::kSparseCoo, Dims{9}, parts)).mean, 5);
}

TEST(Statistics, SaysWhatHasNoNumbers) {
  EXPECT_EQ(error_text([] { statistics(Tensor::zeros(DType::kBits8, Dims{2})); }),
            "bits8[2] has no numbers to take statistics of");
  EXPECT_EQ(error_code([] { statistics(Tensor()); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace flambeau
