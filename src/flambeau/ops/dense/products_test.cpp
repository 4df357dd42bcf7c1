// Values are PyTorch 2.13's.
#include "flambeau/ops/dense/test_tensors.h"

namespace flambeau::ops {
namespace {

using Products = OperatorTest;

TEST_F(Products, AddToMatrices) {
  expect_values(call_with(context, "aten::addmm", {floats({2}, {1, 2}), ramp({2, 3}), ramp({3, 2})},
                          {{"beta", 2}, {"alpha", 0.5}}),
                {7, 10.5, 16, 24});
  // A factor of zero hides what is not a number.
  expect_values(
      call_with(context, "aten::addmm", {floats({1}, {NAN}), ramp({1, 2}), ramp({2, 1})}, {{"beta", 0}}),
      {1});
  EXPECT_EQ(error_of("aten::mm", ramp({2, 3}), ramp({2, 3})),
            "operator 'aten::mm': mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
}

TEST_F(Products, BroadcastBatches) {
  const Tensor product = call(context, "aten::matmul", ramp({2, 1, 2, 3}), ramp({3, 3, 2}));
  EXPECT_EQ(product.sizes(), (Dims{2, 3, 2, 2}));
  expect_values(product, {10, 13, 28, 40, 28,  31,  100, 112, 46,  49,  172, 184,
                          46, 67, 64, 94, 172, 193, 244, 274, 298, 319, 424, 454});
}

TEST_F(Products, ApplyLayersToTheLastDimension) {
  expect_values(call(context, "aten::linear", ramp({2, 2, 3}), ramp({2, 3}), floats({2}, {1, -1})),
                {6, 13, 15, 49, 24, 85, 33, 121});
  // A vector gives a vector; an empty sum is the bias alone.
  EXPECT_EQ(call(context, "aten::linear", ramp({3}), ramp({2, 3})).sizes(), (Dims{2}));
  expect_values(call(context, "aten::linear", ramp({1, 0}), ramp({2, 0}), floats({2}, {1, -1})), {1, -1});
}

TEST_F(Products, SumByEquations) {
  const TensorList operands = {ramp({2, 2, 3}), ramp({2, 1, 3})};
  const Tensor sum = call(context, "aten::einsum", "bij,bkj->ikb", operands);
  EXPECT_EQ(sum.strides(), (Dims{1, 4, 2}));
  expect_values(sum, {5, 86, 14, 122});
  expect_values(call(context, "aten::einsum", "ii", TensorList{ramp({3, 3})}), {12});
  expect_values(call(context, "aten::einsum", "...i->...", TensorList{ramp({2, 2})}), {1, 5});
  EXPECT_EQ(
      error_of("aten::einsum", "ij->ik", TensorList{ramp({2, 2})}),
      "operator 'aten::einsum': einsum(): output subscript k does not appear in the equation for any input "
      "operand");
}

TEST_F(Products, MultiplyGroupsOfRows) {
  const Tensor offsets = Tensor::zeros(DType::kInt32, Dims{3});
  for (int i = 0; i < 3; ++i) offsets.mutable_data<int32_t>()[i] = i == 0 ? 1 : 3;  // the second has the rest
  const Tensor out =
      call(context, "transformers::grouped_mm_fallback", ramp({4, 2}), ramp({3, 2, 1}), offsets);
  expect_values(out, {1, 13, 23, 0});
  offsets.mutable_data<int32_t>()[2] = 5;
  EXPECT_EQ(error_of("transformers::grouped_mm_fallback", ramp({4, 2}), ramp({3, 2, 1}), offsets),
            "operator 'transformers::grouped_mm_fallback': the offset 5 of a group lies outside of 3 to 4");
}

TEST_F(Products, GiveWeightsTheirLength) {
  expect_values(call(context, "aten::_weight_norm", ramp({2, 3}, 1, 1), floats({2, 1}, {2, 3}), 0),
                {0.53452F, 1.06904F, 1.60357F, 1.36753F, 1.70941F, 2.05129F});
}

TEST_F(Products, WrapAndMeetNothing) {
  Tensor least = Tensor::zeros(DType::kInt64, Dims{1});
  *least.mutable_data<int64_t>() = INT64_MIN;
  Tensor one = Tensor::zeros(DType::kInt64, Dims{1});
  *one.mutable_data<int64_t>() = 1;
  const Tensor sum = call_with(context, "aten::addr", {least, one, one}, {{"alpha", -1}});
  EXPECT_EQ(values_of<int64_t>(sum), (std::vector<int64_t>{INT64_MAX}));
  // Sums of nothing, whose strides are as large as numbers go.
  const Tensor nothing = ramp({0}).with_geometry({{2, 2, 0}, {INT64_MAX, INT64_MAX, INT64_MAX}, 0});
  const Tensor turned = ramp({0}).with_geometry({{2, 0, 2}, {INT64_MAX, INT64_MAX, INT64_MAX}, 0});
  expect_values(call(context, "aten::bmm", nothing, turned), {0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_F(Products, OfGroupsFit) {
  const Tensor offsets = Tensor::zeros(DType::kInt32, Dims{1});
  *offsets.mutable_data<int32_t>() = 4;
  EXPECT_EQ(error("aten::_grouped_mm", ramp({2, 4}), ramp({2, 4}), offsets),
            "contraction dimension of mat_a and mat_b must match");
  EXPECT_EQ(error("aten::_grouped_mm", ramp({2, 2, 4}), ramp({3, 4, 2})), "matrix batch sizes have to match");
}

TEST_F(Products, TakeOneType) {
  const Tensor doubles = Tensor::zeros(DType::kFloat64, Dims{2, 2});
  EXPECT_EQ(error_of("aten::bilinear", ramp({2, 2}), doubles, ramp({2, 2, 2})),
            "operator 'aten::bilinear': All tensors must have the same dtype, got input1: float32, input2: "
            "float64, weight: float32");
}

}  // namespace
}  // namespace flambeau::ops
