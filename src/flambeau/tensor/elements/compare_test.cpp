#include "flambeau/tensor/elements/compare.h"

#include <cmath>

#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::error_code;
using testing::make_tensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor floats(const std::vector<float>& values) {
  return make_tensor(DType::kFloat32, {static_cast<int64_t>(values.size())}, values);
}

TEST(Compare, FindsTheFirstAndTheLargest) {
  const Tensor a = make_tensor<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = make_tensor<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 10, 6.5F});
  const Difference result = compare(a, b);
  EXPECT_TRUE(result.same_dtype && result.same_shape && result.same_layout);
  EXPECT_EQ(result.differing, 2);
  EXPECT_EQ(result.max_abs, 5);
  EXPECT_EQ(result.max_rel, 0.5);
  EXPECT_EQ(result.first, 4);
  EXPECT_EQ(result.first_index, (Dims{1, 1}));
  EXPECT_FALSE(result.is_same());
  EXPECT_TRUE(compare(a, a).is_same());
  EXPECT_EQ(compare(a, a).first, -1);
}

TEST(Compare, NanEqualsNanAndZerosDiffer) {
  const float other_nan = std::bit_cast<float>(0xffc12345U);
  EXPECT_TRUE(compare(floats({NAN, 1}), floats({other_nan, 1})).is_same());
  EXPECT_FALSE(bitwise_equal(floats({NAN}), floats({other_nan})));
  EXPECT_TRUE(bitwise_equal(floats({NAN}), floats({NAN})));
  const Difference zeros = compare(floats({0.0F}), floats({-0.0F}));
  EXPECT_EQ(zeros.differing, 1);
  EXPECT_EQ(zeros.max_abs, 0);
  const Difference one_nan = compare(floats({NAN, 1}), floats({1, 1}));
  EXPECT_EQ(one_nan.differing, 1);
  EXPECT_EQ(one_nan.max_abs, kInfinity);
  EXPECT_EQ(compare(floats({INFINITY}), floats({-INFINITY})).max_abs, kInfinity);
  EXPECT_EQ(compare(floats({INFINITY, 2}), floats({INFINITY, 3})).max_abs, 1);
}

TEST(Compare, DifferentTypesCompareByValue) {
  const Tensor shorts = make_tensor<int16_t>(DType::kInt16, {3}, {0, 1, 2});
  const Difference result = compare(shorts, floats({-0.0F, 1, 2.5F}));
  EXPECT_FALSE(result.same_dtype);
  EXPECT_EQ(result.differing, 1);
  EXPECT_EQ(result.max_abs, 0.5);
  const Tensor large = make_tensor<uint64_t>(DType::kUInt64, {2}, {UINT64_MAX, 9007199254740993});
  const Tensor small = make_tensor<int64_t>(DType::kInt64, {2}, {-1, 9007199254740992});
  EXPECT_EQ(compare(large, small).differing, 2);
  EXPECT_EQ(compare(large, small).max_abs, 18446744073709551616.0);
  EXPECT_EQ(
      compare(floats({INFINITY, NAN}), make_tensor<double>(DType::kFloat64, {2}, {INFINITY, NAN})).differing,
      0);
}

TEST(Compare, FollowsStrides) {
  std::vector<int32_t> values(5000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
  const Tensor a = make_tensor(DType::kInt32, {50, 100}, values);
  std::vector<int32_t> turned(5000);
  for (size_t i = 0; i < 50; ++i) {
    for (size_t j = 0; j < 100; ++j) turned[j * 50 + i] = values[i * 100 + j];
  }
  turned[99 * 50 + 49] += 7;
  const Tensor store = make_tensor(DType::kInt32, {5000}, turned);
  const Tensor b = Tensor::strided(DType::kInt32, {{50, 100}, {1, 50}, 0}, store.storage());
  const Difference result = compare(a, b);
  EXPECT_EQ(result.differing, 1);
  EXPECT_EQ(result.max_abs, 7);
  EXPECT_EQ(result.first_index, (Dims{49, 99}));
  EXPECT_FALSE(bitwise_equal(a, b));
  EXPECT_TRUE(bitwise_equal(b, b.to_contiguous()));
}

TEST(Compare, ShapesAndLayouts) {
  const Difference shapes = compare(floats({1, 2}), floats({1}));
  EXPECT_FALSE(shapes.same_shape);
  EXPECT_EQ(shapes.differing, 0);
  EXPECT_FALSE(shapes.is_same());
  EXPECT_FALSE(bitwise_equal(floats({1, 2}), floats({1})));
  EXPECT_TRUE(compare(Tensor::zeros(DType::kInt8, Dims{0}), Tensor::zeros(DType::kInt8, Dims{0})).is_same());
  EXPECT_EQ(error_code([] { compare(Tensor(), floats({1})); }), ErrorCode::kInvalidArgument);
}

TEST(Compare, ComplexByDistance) {
  const Tensor a = make_tensor<double>(DType::kComplex128, {2}, {0, 0, 1, 1});
  const Tensor b = make_tensor<double>(DType::kComplex128, {2}, {3, 4, 1, 1});
  EXPECT_EQ(compare(a, b).max_abs, 5);
  EXPECT_EQ(compare(a, b).max_rel, 1);
  EXPECT_EQ(compare(a, b).differing, 1);
  EXPECT_EQ(compare(b, floats({3, 1})).max_abs, 4);
}

TEST(Compare, QuantizedPackedAndBits) {
  const Tensor base = make_tensor<int8_t>(DType::kQInt8, {2}, {1, 2});
  const Tensor a = Tensor::quantized(base, {.scale = 0.5});
  const Tensor b = Tensor::quantized(base, {.scale = 1});
  EXPECT_EQ(compare(a, b).max_abs, 1);
  EXPECT_FALSE(bitwise_equal(a, b));
  EXPECT_TRUE(bitwise_equal(a, a));
  const Tensor x = Tensor::contiguous(DType::kQUInt4x2, Dims{3}, Storage::own({0x21, 0x03}));
  const Tensor y = Tensor::contiguous(DType::kQUInt4x2, Dims{3}, Storage::own({0x21, 0xf3}));
  EXPECT_TRUE(bitwise_equal(x, y));  // the last half byte belongs to nobody
  EXPECT_TRUE(compare(Tensor::quantized(x, {}), Tensor::quantized(y, {})).is_same());
  const Tensor z = Tensor::contiguous(DType::kQUInt4x2, Dims{3}, Storage::own({0x21, 0x04}));
  EXPECT_FALSE(bitwise_equal(x, z));
  const Tensor bits = make_tensor<uint16_t>(DType::kBits16, {2}, {1, 2});
  EXPECT_EQ(compare(bits, make_tensor<uint16_t>(DType::kBits16, {2}, {1, 5})).max_abs, 3);
}

TEST(Compare, SparseByParts) {
  const auto sparse = [](std::vector<int64_t> indices, std::vector<float> values) {
    SparseParts parts;
    const auto count = static_cast<int64_t>(values.size());
    parts.indices = make_tensor(DType::kInt64, {1, count}, indices);
    parts.values = make_tensor(DType::kFloat32, {count}, values);
    return Tensor::sparse(Layout::kSparseCoo, Dims{9}, parts);
  };
  EXPECT_TRUE(compare(sparse({1, 2}, {3, 4}), sparse({1, 2}, {3, 4})).is_same());
  EXPECT_TRUE(bitwise_equal(sparse({1, 2}, {3, 4}), sparse({1, 2}, {3, 4})));
  const Difference values = compare(sparse({1, 2}, {3, 4}), sparse({1, 5}, {3, 6}));
  EXPECT_EQ(values.differing, 2);
  EXPECT_EQ(values.max_abs, 2);
  EXPECT_EQ(values.first_index, (Dims{0, 1}));
  EXPECT_EQ(compare(sparse({1, 2}, {3, 4}), sparse({1}, {3})).differing, 4);
  EXPECT_FALSE(bitwise_equal(sparse({1, 2}, {3, 4}), sparse({1}, {3})));
  EXPECT_FALSE(compare(sparse({1}, {3}), Tensor::zeros(DType::kFloat32, Dims{9})).same_layout);
}

TEST(Compare, Meta) {
  const Tensor meta =
      Tensor::strided(DType::kFloat32, {{2}, {1}, 0}, Storage::meta(8), Device{DeviceType::kMeta, -1});
  EXPECT_TRUE(compare(meta, meta).is_same());
  EXPECT_EQ(error_code([&] { compare(meta, floats({1, 2})); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace flambeau
