// Which steps become one, and that the numbers stay as they are.
#include "flambeau/runtime/plan/blocks.h"

#include <cstring>

#include "flambeau/runtime/plan/plan_test_programs.h"

namespace flambeau::runtime {
namespace {

class Fused : public Plans {
 protected:
  // The plan after the pass; then it is run, which must give the operators' own bits.
  Lines fused(const std::string& arguments, const std::string& body) {
    const Lines lines = plan_of(arguments, body, "fuse elementwise steps");
    plan_of(arguments, body, "place buffers");
    const Tensor found = run().to_contiguous();
    const Tensor wanted = interpreted().to_contiguous();
    EXPECT_EQ(found.sizes(), wanted.sizes());
    EXPECT_EQ(std::memcmp(found.data(), wanted.data(), static_cast<size_t>(wanted.byte_count())), 0);
    return lines;
  }
};

const std::string kPair = "x: \"f32[40, 30]\", y: \"f32[40, 30]\"";

TEST_F(Fused, AChainIsOneStep) {
  EXPECT_EQ(fused(kPair, R"(a: "f32[40, 30]" = torch.ops.aten.mul.Tensor(x, y)
                           b: "f32[40, 30]" = torch.ops.aten.add.Tensor(a, 1.5)
                           c: "f32[40, 30]" = torch.ops.aten.tanh.default(b)
                           return (c,))"),
            (Lines{"mul + add + tanh(x0, x1, n) -> y0", "gives y0"}));
  EXPECT_EQ(plan->arena_bytes, 0U) << "what lies between has no memory";
}

TEST_F(Fused, OneStepAloneStays) {
  EXPECT_EQ(fused(kPair, R"(a: "f32[40, 30]" = torch.ops.aten.sin.default(x)
                           return (a,))"),
            (Lines{"sin(x0) -> y0", "gives y0"}));
}

TEST_F(Fused, AResultMayBeReadManyTimes) {
  EXPECT_EQ(fused(kPair, R"(a: "f32[40, 30]" = torch.ops.aten.sigmoid.default(x)
                           b: "f32[40, 30]" = torch.ops.aten.mul.Tensor(x, a)
                           c: "f32[40, 30]" = torch.ops.aten.mul.Tensor(b, a)
                           d: "f32[40, 30]" = torch.ops.aten.add.Tensor(c, y)
                           return (d,))"),
            (Lines{"sigmoid + mul + mul + add(x0, x1) -> y0", "gives y0"}));
}

TEST_F(Fused, WhatOthersNeedIsKept) {
  EXPECT_EQ(
      fused(kPair, R"(a: "f32[40, 30]" = torch.ops.aten.sin.default(x)
                           b: "f32[40, 30]" = torch.ops.aten.mul.Tensor(a, y)
                           s: "f32[40]" = torch.ops.aten.sum.dim_IntList(a, [1])
                           return (b, s))"),
      (Lines{"sin + mul(x0, x1) -> a0, y0", "sum.dim_IntList(a0, [1], False, None) -> y1", "gives y0 y1"}));
}

TEST_F(Fused, NotPastSomebodyWhoNeedsIt) {
  // The sum stands before the product, which needs it.
  EXPECT_EQ(fused(kPair, R"(a: "f32[40, 30]" = torch.ops.aten.sin.default(x)
                           s: "f32[40, 1]" = torch.ops.aten.sum.dim_IntList(a, [1], True)
                           b: "f32[40, 30]" = torch.ops.aten.mul.Tensor(a, s)
                           c: "f32[40, 30]" = torch.ops.aten.cos.default(b)
                           return (c,))"),
            (Lines{"sin(x0) -> a0", "sum.dim_IntList(a0, [1], True, None) -> a1", "mul + cos(a0, a1) -> y0",
                   "gives y0"}));
}

TEST_F(Fused, SmallOperandsAreBroadcast) {
  EXPECT_EQ(fused("x: \"f32[40, 30]\", w: \"f32[30]\", c_b: \"f32[40, 1]\"",
                  R"(a: "f32[40, 30]" = torch.ops.aten.mul.Tensor(x, w)
                     b: "f32[40, 30]" = torch.ops.aten.add.Tensor(a, c_b)
                     return (b,))"),
            (Lines{"mul + add(x0, x1, c) -> y0", "gives y0"}));
}

TEST_F(Fused, SmallResultsAreComputedOnce) {
  EXPECT_EQ(fused("x: \"f32[40, 30]\", w: \"f32[30]\"",
                  R"(a: "f32[30]" = torch.ops.aten.exp.default(w)
                     b: "f32[40, 30]" = torch.ops.aten.mul.Tensor(x, a)
                     c: "f32[40, 30]" = torch.ops.aten.neg.default(b)
                     return (c,))"),
            (Lines{"exp(x0) -> a0", "mul + neg(x1, a0) -> y0", "gives y0"}));
}

TEST_F(Fused, InPlaceFormsToo) {
  EXPECT_EQ(fused(kPair, R"(a: "f32[40, 30]" = torch.ops.aten.sin.default(x)
                           b: "f32[40, 30]" = torch.ops.aten.mul_.Tensor(a, y)
                           c: "f32[40, 30]" = torch.ops.aten.relu_.default(a)
                           return (c,))"),
            (Lines{"sin + mul + relu(x0, x1) -> y0", "gives y0"}));
}

TEST_F(Fused, NotThroughAWriteToAPart) {
  const Lines lines = fused(kPair, R"(a: "f32[40, 30]" = torch.ops.aten.sin.default(x)
                                     v: "f32[20, 30]" = torch.ops.aten.slice.Tensor(a, 0, 0, 20)
                                     w: "f32[20, 30]" = torch.ops.aten.mul_.Tensor(v, 2)
                                     b: "f32[40, 30]" = torch.ops.aten.cos.default(a)
                                     return (b,))");
  EXPECT_EQ(lines, (Lines{"sin(x0) -> a0", "mul.Tensor(a0, n) -> a0", "cos(a0) -> y0", "gives y0"}));
}

TEST_F(Fused, NotThroughAView) {
  EXPECT_EQ(fused(kPair, R"(a: "f32[40, 30]" = torch.ops.aten.sin.default(x)
                           v: "f32[30, 40]" = torch.ops.aten.view.default(a, [30, 40])
                           b: "f32[30, 40]" = torch.ops.aten.cos.default(v)
                           return (b,))"),
            (Lines{"sin(x0) -> a0", "cos(a0) -> y0", "gives y0"}));
}

TEST_F(Fused, WhatLiesAcrossIsTurnedBefore) {
  EXPECT_EQ(fused("x: \"f32[40, 30]\", y: \"f32[30, 40]\"",
                  R"(t: "f32[40, 30]" = torch.ops.aten.permute.default(y, [1, 0])
                     a: "f32[40, 30]" = torch.ops.aten.add.Tensor(x, t)
                     b: "f32[40, 30]" = torch.ops.aten.sin.default(a)
                     c: "f32[40, 30]" = torch.ops.aten.cos.default(b)
                     return (c,))"),
            (Lines{"add.Tensor(x0, x1, 1) -> a0", "sin + cos(a0) -> y0", "gives y0"}));
}

TEST_F(Fused, TypesMayChangeOnTheWay) {
  EXPECT_EQ(fused("x: \"bf16[40, 30]\", y: \"f32[40, 30]\"",
                  R"(a: "bf16[40, 30]" = torch.ops.aten.exp.default(x)
                     b: "bf16[40, 30]" = torch.ops.aten.mul.Tensor(a, a)
                     c: "b8[40, 30]" = torch.ops.aten.gt.Scalar(b, 0.5)
                     d: "f32[40, 30]" = torch.ops.aten.add.Tensor(b, y)
                     e: "f32[40, 30]" = torch.ops.aten.where.self(c, d, y)
                     return (e,))"),
            (Lines{"exp + mul + gt + add + where(x0, x1) -> y0", "gives y0"}));
}

TEST_F(Fused, ConversionsAreStepsToo) {
  EXPECT_EQ(fused(kPair, R"(a: "f16[40, 30]" = torch.ops.aten._to_copy.default(x, dtype = torch.float16)
                           b: "f16[40, 30]" = torch.ops.aten.mul.Tensor(a, a)
                           c: "f32[40, 30]" = torch.ops.aten._to_copy.default(b, dtype = torch.float32)
                           return (c,))"),
            (Lines{"_to_copy + mul + _to_copy(x0) -> y0", "gives y0"}));
}

TEST_F(Fused, RandomNumbersAreDrawnOneByOne) {
  context.generator = nullptr;
  const Lines lines = plan_of(kPair, R"(a: "f32[40, 30]" = torch.ops.aten.sin.default(x)
                                       b: "f32[40, 30]" = torch.ops.aten.rand_like.default(a)
                                       c: "f32[40, 30]" = torch.ops.aten.add.Tensor(a, b)
                                       return (c,))",
                              "fuse elementwise steps");
  EXPECT_EQ(lines.size(), 4U);
}

TEST_F(Fused, LongChainsAreCut) {
  std::string body = "a0: \"f32[40, 30]\" = torch.ops.aten.sin.default(x)\n";
  for (int i = 1; i < 40; ++i) {
    body += "a" + std::to_string(i) + ": \"f32[40, 30]\" = torch.ops.aten.mul.Tensor(a" +
            std::to_string(i - 1) + ", y)\n";
  }
  EXPECT_EQ(fused(kPair, body + "return (a39,)").size(), 4U);
}

TEST_F(Fused, ManyTensorsAreTwoSteps) {
  std::string arguments;
  std::string body = "a0: \"f32[4]\" = torch.ops.aten.sin.default(x0)\n";
  for (int i = 0; i < 12; ++i) arguments += (i == 0 ? "x" : ", x") + std::to_string(i) + ": \"f32[4]\"";
  for (int i = 1; i < 12; ++i) {
    body += "a" + std::to_string(i) + ": \"f32[4]\" = torch.ops.aten.mul.Tensor(a" + std::to_string(i - 1) +
            ", x" + std::to_string(i) + ")\n";
  }
  EXPECT_EQ(fused(arguments, body + "return (a11,)").size(), 3U);
}

TEST_F(Fused, ImagesStayAsConvolutionsLikeThem) {
  plan_of(
      "x: \"f32[1, 3, 8, 8]\", c_w: \"f32[16, 3, 3, 3]\", c_m: \"f32[16, 1, 1]\"",
      R"(a: "f32[1, 16, 6, 6]" = torch.ops.aten.convolution.default(x, c_w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
             b: "f32[1, 16, 6, 6]" = torch.ops.aten.mul.Tensor(a, c_m)
             c: "f32[1, 16, 6, 6]" = torch.ops.aten.add.Tensor(b, c_m)
             d: "f32[1, 16, 6, 6]" = torch.ops.aten.sin.default(c)
             return (d,))",
      "place buffers");
  EXPECT_TRUE(
      std::ranges::any_of(plan->steps, [](const Step& step) { return step.name() == "mul + add + sin"; }));
  expect_right();
}

}  // namespace
}  // namespace flambeau::runtime
