// Convolutions with constant weights as layers of each backend: what is folded, what is fused, how images
// lie.
#include "flambeau/runtime/plan/plan_test_programs.h"

namespace flambeau::runtime {
namespace {

class Images : public PlansOfBackends {
 protected:
  // The steps that are no copies of an image in another order.
  Lines without_copies(Lines lines) const {
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("clone("); });
    return lines;
  }
  bool turns() const { return GetParam() == "onednn"; }
};
FLAMBEAU_FOR_EACH_BACKEND(Images);

const std::string kNormalized =
    "c_w: \"f32[4, 3, 3, 3]\", c_k: \"f32[4]\", c_g: \"f32[4]\", c_b: \"f32[4]\", c_m: \"f32[4]\", c_v: "
    "\"f32[4]\", "
    "x: \"f32[2, 3, 8, 8]\"";

TEST_P(Images, FoldBatchNormalization) {
  for (const std::string bias : {"", ", c_k"}) {
    plan_of(kNormalized,
            "a: \"f32[2, 4, 6, 6]\" = torch.ops.aten.conv2d.default(x, c_w" + bias +
                ")\nb: \"f32[2, 4, 6, 6]\" = torch.ops.aten.batch_norm.default(a, c_g, c_b, c_m, c_v, False, "
                "0.1, "
                "1e-05, True)\nc: \"f32[2, 4, 6, 6]\" = torch.ops.aten.relu.default(b)\nreturn (c,)",
            "place buffers");
    EXPECT_EQ(layers(), 1U);
    for (const Step& step : plan->steps)
      EXPECT_EQ(step.name(), step.prepared ? "aten::conv2d + batch_norm + relu" : "aten::clone");
    expect_right(1e-4);
  }
}

TEST_P(Images, FoldTheFormThatAlsoGivesStatistics) {
  plan_of(kNormalized,
          R"(a: "f32[2, 4, 6, 6]" = torch.ops.aten.conv2d.default(x, c_w)
             n = torch.ops.aten._native_batch_norm_legit_no_training.default(a, c_g, c_b, c_m, c_v, 0.1, 1e-05)  #| (input, weight, bias, running_mean, running_var, momentum, eps); -> items
             b: "f32[2, 4, 6, 6]" = n[0]  #| item
             s: "f32[0]" = n[1]  #| item
             t: "f32[0]" = n[2]  #| item
             c: "f32[2, 4, 6, 6]" = torch.ops.aten.hardtanh.default(b, 0, 6)
             return (c,))",
          "place buffers");
  EXPECT_EQ(layers(), 1U);
  EXPECT_EQ(std::ranges::count_if(plan->steps, [](const Step& step) { return step.name() != "aten::clone"; }),
            1);
  expect_right(1e-4);
}

TEST_P(Images, FoldIntoGroupsAndTransposedOnes) {
  plan_of(
      "c_w: \"f32[4, 1, 3, 3]\", c_g: \"f32[4]\", c_b: \"f32[4]\", c_m: \"f32[4]\", c_v: \"f32[4]\", "
      "x: \"f32[1, 4, 8, 8]\"",
      R"(a: "f32[1, 4, 8, 8]" = torch.ops.aten.conv2d.default(x, c_w, None, [1, 1], [1, 1], [1, 1], 4)
             b: "f32[1, 4, 8, 8]" = torch.ops.aten.batch_norm.default(a, c_g, c_b, c_m, c_v, False, 0.1, 1e-05, True)
             return (b,))",
      "place buffers");
  EXPECT_EQ(layers(), 1U);
  expect_right(1e-4);
  plan_of(
      "c_w: \"f32[6, 2, 3, 3]\", c_g: \"f32[4]\", c_b: \"f32[4]\", c_m: \"f32[4]\", c_v: \"f32[4]\", "
      "x: \"f32[1, 6, 4, 4]\"",
      R"(a: "f32[1, 4, 9, 9]" = torch.ops.aten.convolution.default(x, c_w, None, [2, 2], [0, 0], [1, 1], True, [0, 0], 2)
             b: "f32[1, 4, 9, 9]" = torch.ops.aten.batch_norm.default(a, c_g, c_b, c_m, c_v, False, 0.1, 1e-05, True)
             c: "f32[1, 4, 9, 9]" = torch.ops.aten.relu.default(b)
             return (c,))",
      "place buffers");
  EXPECT_EQ(layers(), 1U);
  EXPECT_EQ(plan->steps.size(), 1U);
  expect_right(1e-4);
}

TEST_P(Images, DoNotFoldWhatOthersRead) {
  plan_of(kNormalized,
          R"(a: "f32[2, 4, 6, 6]" = torch.ops.aten.conv2d.default(x, c_w)
             b: "f32[2, 4, 6, 6]" = torch.ops.aten.batch_norm.default(a, c_g, c_b, c_m, c_v, False, 0.1, 1e-05, True)
             c: "f32[2, 4, 6, 6]" = torch.ops.aten.add.Tensor(a, b)
             return (c,))",
          "place buffers");
  EXPECT_EQ(layers(), 1U);
  for (const Step& step : plan->steps) EXPECT_EQ(step.label, step.prepared ? "aten::conv2d" : "");
  expect_right(1e-4);
}

TEST_P(Images, DoNotFoldNumbersThatChange) {
  plan_of(
      "c_w: \"f32[4, 3, 3, 3]\", c_g: \"f32[4]\", c_b: \"f32[4]\", c_m: \"f32[4]\", x: \"f32[1, 3, 8, 8]\", "
      "y: "
      "\"f32[4]\"",
      R"(v: "f32[4]" = torch.ops.aten.exp.default(y)
             a: "f32[1, 4, 6, 6]" = torch.ops.aten.conv2d.default(x, c_w)
             b: "f32[1, 4, 6, 6]" = torch.ops.aten.batch_norm.default(a, c_g, c_b, c_m, v, False, 0.1, 1e-05, True)
             return (b,))",
      "place buffers");
  EXPECT_EQ(layers(), 1U);
  expect_right(1e-4);
}

TEST_P(Images, AddResiduals) {
  const Lines lines = plan_of("c_w: \"f32[3, 3, 3, 3]\", c_u: \"f32[3, 3, 1, 1]\", x: \"f32[1, 3, 6, 6]\"",
                              R"(r: "f32[1, 3, 6, 6]" = torch.ops.aten.conv2d.default(x, c_u)
                                 a: "f32[1, 3, 6, 6]" = torch.ops.aten.conv2d.default(x, c_w, None, [1, 1], [1, 1])
                                 b: "f32[1, 3, 6, 6]" = torch.ops.aten.add.Tensor(a, r)
                                 c: "f32[1, 3, 6, 6]" = torch.ops.aten.relu.default(b)
                                 d: "f32[1, 3, 6, 6]" = torch.ops.aten.sin.default(c)
                                 return (d,))",
                              "place buffers");
  EXPECT_EQ(layers(), 2U) << ::testing::PrintToString(lines);
  const auto is_sum = [](const Step& step) { return step.label == "aten::conv2d + add + relu"; };
  EXPECT_EQ(std::ranges::count_if(plan->steps, is_sum), 1) << ::testing::PrintToString(lines);
  expect_right(1e-4);
}

TEST_P(Images, LieAsTheBackendLikesThem) {
  const Lines lines = plan_of("c_w: \"f32[3, 3, 3, 3]\", x: \"f32[1, 3, 9, 9]\"",
                              R"(a: "f32[1, 3, 7, 7]" = torch.ops.aten.conv2d.default(x, c_w)
                                 b: "f32[1, 3, 7, 7]" = torch.ops.aten.sin.default(a)
                                 c: "f32[1, 3, 5, 5]" = torch.ops.aten.conv2d.default(b, c_w)
                                 return (c,))",
                              "place buffers");
  // Turned once before and once after all, or never.
  EXPECT_EQ(lines.size(), turns() ? 6U : 4U) << ::testing::PrintToString(lines);
  EXPECT_EQ(lines.front(), turns() ? "clone(x0, None) -> a0" : "conv2d(x0) -> a0");
  expect_right(1e-4);
}

TEST_P(Images, OfOneAndThreeDimensions) {
  plan_of("c_w: \"f32[4, 3, 3]\", c_b: \"f32[4]\", x: \"f32[2, 3, 20]\"",
          R"(a: "f32[2, 4, 9]" = torch.ops.aten.conv1d.default(x, c_w, c_b, [2])
             b: "f32[2, 4, 9]" = torch.ops.aten.gelu.default(a)
             return (b,))",
          "place buffers");
  EXPECT_EQ(plan->steps.size(), 1U);
  EXPECT_EQ(layers(), 1U);
  expect_right();
  plan_of("c_w: \"f32[4, 3, 2, 3, 1]\", x: \"f32[1, 3, 4, 5, 6]\"",
          R"(a: "f32[1, 4, 3, 3, 6]" = torch.ops.aten.conv3d.default(x, c_w)
             return (a,))",
          "place buffers");
  EXPECT_EQ(layers(), 1U);
  expect_right();
}

TEST_P(Images, TransposedOnes) {
  plan_of(
      "c_w: \"f32[3, 4, 3, 3]\", c_b: \"f32[4]\", x: \"f32[1, 3, 5, 5]\"",
      R"(a: "f32[1, 4, 10, 10]" = torch.ops.aten.conv_transpose2d.input(x, c_w, c_b, [2, 2], [1, 1], [1, 1])
             b: "f32[1, 4, 10, 10]" = torch.ops.aten.silu.default(a)
             return (b,))",
      "place buffers");
  EXPECT_EQ(plan->steps.size(), 1U);
  EXPECT_EQ(plan->steps[0].label, "aten::conv_transpose2d.input + silu");
  expect_right();
}

TEST_P(Images, WithWeightsThatChangeStayOperators) {
  plan_of("w: \"f32[4, 3, 3, 3]\", x: \"f32[1, 3, 8, 8]\"",
          R"(a: "f32[1, 4, 6, 6]" = torch.ops.aten.conv2d.default(x, w)
             b: "f32[1, 4, 6, 6]" = torch.ops.aten.relu.default(a)
             return (b,))",
          "place buffers");
  EXPECT_EQ(layers(), 0U);
  expect_right(1e-4);
}

TEST_P(Images, WithoutABatchStayOperators) {
  plan_of("c_w: \"f32[4, 3, 3, 3]\", x: \"f32[3, 8, 8]\"",
          R"(a: "f32[4, 6, 6]" = torch.ops.aten.conv2d.default(x, c_w)
             return (a,))",
          "place buffers");
  EXPECT_EQ(layers(), 0U);
  expect_right(1e-4);
}

}  // namespace
}  // namespace flambeau::runtime
