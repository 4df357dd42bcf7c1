// Values are PyTorch 2.13's.
#include "flambeau/ops/dense/test_tensors.h"

namespace flambeau::ops {
namespace {

using Attention = OperatorTest;

TEST_F(Attention, LooksBack) {
  const Tensor out =
      call(context, "aten::scaled_dot_product_attention", ramp({1, 2, 2, 2}, 0.125F),
           ramp({1, 2, 2, 2}, 0.125F, 0.5F), ramp({1, 2, 2, 2}, 0.25F), std::nullopt, 0.0, true);
  expect_values(out, {0, 0.25, 0.2638F, 0.5138F, 1, 1.25, 1.28566F, 1.53566F});
}

TEST_F(Attention, GivesZerosWhereAllIsHidden) {
  const Tensor x = ramp({1, 2, 2, 2}, 0.125F);
  const Tensor mask = Tensor::zeros(DType::kBool, Dims{2, 2});
  mask.mutable_data()[0] = 1;
  expect_values(call(context, "aten::scaled_dot_product_attention", x, x, x, mask),
                {0, 0.125, 0, 0, 0.5, 0.625, 0, 0});
}

// Longer than a block of keys, with heads that share keys.
TEST_F(Attention, BlocksAgreeWithPlainProducts) {
  const Tensor query = call(context, "aten::sin", ramp({1, 4, 150, 8}, 0.37F));
  const Tensor key = call(context, "aten::sin", ramp({1, 2, 700, 8}, 0.71F));
  const Tensor value = call(context, "aten::sin", ramp({1, 2, 700, 8}, 0.13F));
  const Tensor out =
      call_with(context, "aten::scaled_dot_product_attention", {query, key, value}, {{"enable_gqa", true}});
  const auto [same, weights] = call_with<std::tuple<Tensor, Tensor>>(
      context, "aten::_scaled_dot_product_attention_math", {query, key, value}, {{"enable_gqa", true}});
  expect_values(out, values_of(same));
  const Tensor repeated = call(context, "aten::repeat_interleave.self_int", value, 2, 1);
  expect_values(out, values_of(call(context, "aten::matmul", weights, repeated)), 1e-4F);
}

TEST_F(Attention, SaysWhatDoesNotFit) {
  EXPECT_EQ(
      error_of("aten::scaled_dot_product_attention", ramp({2}), ramp({2, 2}), ramp({2, 2})),
      "operator 'aten::scaled_dot_product_attention': Expected query, key, and value to all be  at least 2 "
      "dimensional, but got query.dim: 1 key.dim: 2 and value.dim: 2 instead.");
}

TEST_F(Attention, MasksMustFit) {
  const Tensor x = ramp({1, 2, 3, 4}, 0.125F);
  const auto flash_error = [&](const Tensor& mask) {
    try {
      call_with<std::tuple<Tensor, Tensor>>(context, "aten::_scaled_dot_product_flash_attention_for_cpu",
                                            {x, x, x}, {{"attn_mask", mask}});
    } catch (const Error& error) {
      return error.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(flash_error(ramp({1, 1, 1, 3, 3})),
            "scaled_dot_product_attention_flash_attention: Attention mask dim in {2, 4}");
  EXPECT_EQ(flash_error(ramp({2, 2})), "attention: a mask of 2 x 2 does not fit 3 queries and 3 keys");
  EXPECT_EQ(flash_error(ramp({1, 3, 3, 3})),
            "attention: a mask of shape [1, 3, 3, 3] does not fit a result of shape [1, 2, 3, 4]");
  EXPECT_EQ(error("aten::scaled_dot_product_attention", x, x, x, ramp({2, 1, 2, 3, 3})),
            "attention: a mask of shape [2, 1, 2, 3, 3] does not fit a result of shape [1, 2, 3, 4]");
}

}  // namespace
}  // namespace flambeau::ops
