// Elementwise operators: representative ones, with the values PyTorch gives.
#include <gtest/gtest.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "support/message_of.h"

namespace flambeau::ops {
namespace {

template <typename T>
Tensor tensor(DType dtype, std::vector<T> values) {
  Tensor made = Tensor::zeros(dtype, Dims{static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), made.mutable_data<T>());
  return made;
}
Tensor float_row(std::vector<float> values) { return tensor(DType::kFloat32, std::move(values)); }
Tensor integer_row(std::vector<int64_t> values) { return tensor(DType::kInt64, std::move(values)); }

TEST(Elementwise, NumbersPromoteAsPythonsDo) {
  Fixture f;
  const Tensor halves = call(f.context, "aten::mul.Scalar", float_row({1, 2}), 0.5);
  EXPECT_EQ(values_of<float>(halves), (std::vector<float>{0.5, 1}));
  EXPECT_EQ(call(f.context, "aten::add.Scalar", integer_row({1}), 1.5).dtype(), DType::kFloat32);
  EXPECT_EQ(call(f.context, "aten::add.Scalar", integer_row({1}), 2).dtype(), DType::kInt64);
  EXPECT_EQ(call(f.context, "aten::div.Tensor", integer_row({1}), integer_row({2})).dtype(), DType::kFloat32);
  EXPECT_EQ(call(f.context, "aten::rsub.Scalar", integer_row({1}), 2).data<int64_t>()[0], 1);
}

TEST(Elementwise, ASingleElementStandsForAll) {
  Fixture f;
  std::vector<float> many(5000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  const Tensor x = float_row(many);
  for (const Tensor& out : {call(f.context, "aten::sub.Tensor", x, 1),
                            call(f.context, "aten::sub.Tensor", x, tensor<float>(DType::kFloat32, {1}))}) {
    EXPECT_EQ(out.data<float>()[0], -1);
    EXPECT_EQ(out.data<float>()[4999], 4998);
  }
  const Tensor out = call(f.context, "aten::rsub.Scalar", x, 1);
  EXPECT_EQ(out.data<float>()[4999], -4998);
}

TEST(Elementwise, StoredTypesWithLoopsOfTheirOwn) {
  Fixture f;
  const Tensor small = tensor<int32_t>(DType::kInt32, std::vector<int32_t>(40, 2147483647));
  const Tensor wrapped = call(f.context, "aten::add.Tensor", small, 2);
  EXPECT_EQ(wrapped.dtype(), DType::kInt32);
  EXPECT_EQ(wrapped.data<int32_t>()[39], -2147483647);
  const Tensor product = call(f.context, "aten::mul.Tensor", small, small);
  EXPECT_EQ(product.data<int32_t>()[0], 1);
  // 1 + 2^-8 lies between two numbers, and goes to the even one; NaN stays one.
  const Tensor ones = tensor<uint16_t>(DType::kBFloat16, std::vector<uint16_t>(40, 0x3f80));
  const Tensor more = tensor<uint16_t>(DType::kBFloat16, std::vector<uint16_t>(40, 0x3b80));
  EXPECT_EQ(call(f.context, "aten::add.Tensor", ones, more).data<uint16_t>()[39], 0x3f80);
  const Tensor nan = tensor<uint16_t>(DType::kBFloat16, std::vector<uint16_t>(40, 0x7fff));
  EXPECT_EQ(call(f.context, "aten::mul.Tensor", ones, nan).data<uint16_t>()[3], 0x7fc0);
  EXPECT_EQ(call(f.context, "aten::div.Tensor", ones, more).data<uint16_t>()[3], 0x4380);
}

TEST(Elementwise, IntegersDivideAsInPython) {
  Fixture f;
  const Tensor a = integer_row({7, -7, 7, -7});
  const Tensor b = integer_row({2, 2, -2, -2});
  using Values = std::vector<int64_t>;
  EXPECT_EQ(values_of<int64_t>(call(f.context, "aten::floor_divide", a, b)), (Values{3, -4, -4, 3}));
  EXPECT_EQ(
      values_of<int64_t>(call_with(f.context, "aten::div.Tensor_mode", {a, b}, {{"rounding_mode", "trunc"}})),
      (Values{3, -3, -3, 3}));
  EXPECT_EQ(values_of<int64_t>(call(f.context, "aten::remainder.Tensor", a, b)), (Values{1, 1, -1, -1}));
  EXPECT_EQ(values_of<int64_t>(call(f.context, "aten::fmod.Tensor", a, b)), (Values{1, -1, 1, -1}));
  EXPECT_EQ(message_of([&] { call(f.context, "aten::floor_divide", a, 0); }),
            "operator 'aten::floor_divide': ZeroDivisionError");
  const Tensor least = integer_row({std::numeric_limits<int64_t>::min()});
  EXPECT_EQ(values_of<int64_t>(call(f.context, "aten::floor_divide", least, -1)),
            (Values{std::numeric_limits<int64_t>::min()}));
  EXPECT_EQ(values_of<int64_t>(call(f.context, "aten::remainder.Scalar", least, -1)), (Values{0}));
}

TEST(Elementwise, BoolsAreRefusedWhereTheyHaveNoMeaning) {
  Fixture f;
  const Tensor mask = tensor<uint8_t>(DType::kBool, {1, 0});
  EXPECT_EQ(message_of([&] { call(f.context, "aten::sub.Tensor", mask, mask); }),
            "operator 'aten::sub.Tensor': Subtraction, the `-` operator, with two bool tensors is not "
            "supported. (use the `^` or `logical_xor()` operator instead)");
  EXPECT_EQ(
      message_of([&] { call(f.context, "aten::neg", mask); }),
      "operator 'aten::neg': Negation, the `-` operator, on a bool tensor is not supported. (if you are "
      "trying to invert a mask, use the `~` or `logical_not()` operator instead)");
  EXPECT_EQ(message_of([&] { call(f.context, "aten::clamp", mask, 0, 1); }),
            "no error");  // promotes to int64
  EXPECT_EQ(values_of<uint8_t>(call(f.context, "aten::add.Tensor", mask, mask)),
            (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(values_of<uint8_t>(call(f.context, "aten::bitwise_not", mask)), (std::vector<uint8_t>{0, 1}));
}

TEST(Elementwise, NaNsSpreadThroughExtremaButNotThroughFmax) {
  Fixture f;
  const float nan = NAN;
  const Tensor a = float_row({1, nan, 3});
  const Tensor b = float_row({2, 2, nan});
  const std::vector<float> largest = values_of<float>(call(f.context, "aten::maximum", a, b));
  EXPECT_EQ(largest[0], 2);
  EXPECT_TRUE(std::isnan(largest[1]) && std::isnan(largest[2]));
  EXPECT_EQ(values_of<float>(call(f.context, "aten::fmax", a, b)), (std::vector<float>{2, 2, 3}));
  const std::vector<float> relu = values_of<float>(call(f.context, "aten::relu", float_row({-1, nan, 2})));
  EXPECT_EQ(relu[0], 0);
  EXPECT_TRUE(std::isnan(relu[1]));
  EXPECT_EQ(values_of<float>(call(f.context, "aten::clamp", float_row({-5, 0, 5}), -1, 2)),
            (std::vector<float>{-1, 0, 2}));
}

TEST(Elementwise, ComparisonsGiveBools) {
  Fixture f;
  const Tensor less = call(f.context, "aten::lt.Scalar", integer_row({1, 2, 3}), 2.5);
  EXPECT_EQ(less.dtype(), DType::kBool);
  EXPECT_EQ(values_of<uint8_t>(less), (std::vector<uint8_t>{1, 1, 0}));
  const Tensor chosen = call(f.context, "aten::where.ScalarOther", less, integer_row({1, 2, 3}), 9);
  EXPECT_EQ(values_of<int64_t>(chosen), (std::vector<int64_t>{1, 2, 9}));
  const Tensor filled = call(f.context, "aten::masked_fill.Scalar", float_row({1, 2, 3}), less, -1.5);
  EXPECT_EQ(values_of<float>(filled), (std::vector<float>{-1.5, -1.5, 3}));
}

TEST(Elementwise, ShiftsBeyondTheWidthLeaveTheSign) {
  Fixture f;
  const Tensor x = tensor<int32_t>(DType::kInt32, {1, -8});
  EXPECT_EQ(values_of<int32_t>(call(f.context, "aten::bitwise_left_shift.Tensor_Scalar", x, 33)),
            (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(values_of<int32_t>(call(f.context, "aten::bitwise_right_shift.Tensor_Scalar", x, 40)),
            (std::vector<int32_t>{0, -1}));
}

TEST(Elementwise, PowersOfIntegers) {
  Fixture f;
  EXPECT_EQ(values_of<int64_t>(call(f.context, "aten::pow.Tensor_Scalar", integer_row({-3, 2}), 3)),
            (std::vector<int64_t>{-27, 8}));
  EXPECT_EQ(message_of([&] { call(f.context, "aten::pow.Tensor_Scalar", integer_row({2}), -1); }),
            "operator 'aten::pow.Tensor_Scalar': Integers to negative integer powers are not allowed.");
  const Tensor x = float_row({4, 9});
  call(f.context, "aten::pow_.Scalar", x, 0.5);
  EXPECT_EQ(values_of<float>(x), (std::vector<float>{2, 3}));
}

TEST(Elementwise, TransposedCopiesOfAnySize) {
  Fixture f;
  for (const DType dtype :
       {DType::kUInt8, DType::kFloat16, DType::kInt32, DType::kInt64, DType::kComplex128}) {
    for (const auto& [rows, columns] : {std::pair{5, 7}, {33, 65}, {100, 4}}) {
      const Tensor x = Tensor::zeros(dtype, Dims{2, rows, columns});
      auto* const bytes = x.mutable_data();
      for (size_t i = 0; i < x.byte_count(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
      const Tensor turned = x.with_geometry({{2, columns, rows}, {rows * columns, 1, columns}, 0});
      const Tensor copy = Tensor::zeros(dtype, turned.sizes());
      copy_into(f.context, turned, copy);
      const Tensor expected = turned.to_contiguous();
      EXPECT_EQ(0, std::memcmp(copy.data(), expected.data(), expected.byte_count()))
          << rows << "x" << columns;
    }
  }
}

TEST(Elementwise, ConversionsOfRows) {
  Fixture f;
  const std::vector<DType> types = {DType::kBool,    DType::kUInt8,    DType::kInt8,     DType::kInt16,
                                    DType::kInt32,   DType::kInt64,    DType::kFloat32,  DType::kFloat64,
                                    DType::kFloat16, DType::kBFloat16, DType::kComplex64};
  for (const DType from : types) {
    for (const DType to : types) {
      const Tensor x = Tensor::zeros(from, Dims{70});
      copy_into(f.context, integer_row(std::vector<int64_t>(70, 3)), x);
      const Tensor y = Tensor::zeros(to, Dims{70});
      copy_into(f.context, x, y);
      const int64_t expected = from == DType::kBool || to == DType::kBool ? 1 : 3;
      for (const int64_t i : {0, 69}) {
        EXPECT_EQ(item(y.with_geometry({{}, {}, i})).to_int(), expected)
            << dtype_name(from) << " to " << dtype_name(to);
      }
    }
  }
}

TEST(Elementwise, CopiesMustBroadcast) {
  Fixture f;
  EXPECT_EQ(message_of([&] { copy_into(f.context, float_row({1, 2}), float_row({1, 2, 3})); }),
            "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0");
  EXPECT_EQ(message_of([&] { copy_into(f.context, ramp({1, 2}), float_row({1, 2})); }),
            "a tensor of 2 dimensions does not broadcast to 1 dimensions");
}

TEST(Elementwise, RoundsToAnyNumberOfDecimals) {
  Fixture f;
  const auto rounded = [&](int64_t decimals) {
    return values_of(
        call_with(f.context, "aten::round.decimals", {float_row({1234.5F})}, {{"decimals", decimals}}));
  };
  EXPECT_EQ(rounded(-2), (std::vector<float>{1200}));
  EXPECT_TRUE(std::isnan(rounded(INT64_MIN)[0]));
}

}  // namespace
}  // namespace flambeau::ops
