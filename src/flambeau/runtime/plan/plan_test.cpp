// Plans of small programs, after each pass that makes them.
#include "flambeau/runtime/plan/plan.h"

#include "flambeau/runtime/plan/plan_test_programs.h"

namespace flambeau::runtime {
namespace {

const std::string kX = "x: \"f32[4]\"";

TEST_F(Plans, CallsAreWrittenDownInOrder) {
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                           b: "f32[4]" = torch.ops.aten.mul.Tensor(a, x)
                           return (b,))"),
            (Lines{"sin(x0) -> a0", "mul.Tensor(a0, x0) -> a1", "gives a1"}));
}

TEST_F(Plans, ViewsAreNoSteps) {
  EXPECT_EQ(plan_of("x: \"f32[2, 2]\"", R"(a: "f32[2, 2]" = torch.ops.aten.t.default(x)
                                           b: "f32[4]" = torch.ops.aten.slice.Tensor(a, 0, 0, 1)
                                           c: "f32[1, 2]" = torch.ops.aten.neg.default(b)
                                           return (c,))"),
            (Lines{"neg(x0) -> a0", "gives a0"}));
  EXPECT_EQ(plan->steps[0].arguments[0].tensor().strides(), (Dims{1, 2}));
}

TEST_F(Plans, CompositesAreTheirParts) {
  EXPECT_EQ(plan_of("x: \"f32[4]\", y: \"f32[4]\"", R"(a: "f32[]" = torch.ops.aten.mse_loss.default(x, y)
                                                        return (a,))"),
            (Lines{"sub.Tensor(x0, x1, 1) -> a0", "pow.Tensor_Scalar(a0, 2) -> a1", "mean(a1, None) -> a2",
                   "gives a2"}));
}

TEST_F(Plans, WhatIsKnownIsComputedNow) {
  EXPECT_EQ(plan_of("c_w: \"f32[4]\", " + kX, R"(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_w, 2)
                                                 b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                                                 return (b,))"),
            (Lines{"add.Tensor(x0, c, 1) -> a0", "gives a0"}));
  EXPECT_EQ(plan_of(kX, R"(a: "i64[4]" = torch.ops.aten.arange.default(4)
                           b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                           return (b,))"),
            (Lines{"add.Tensor(x0, c, 1) -> a0", "gives a0"}));
}

TEST_F(Plans, InPlaceWritesToTheSameMemory) {
  const std::string body = R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                              b: "f32[4]" = torch.ops.aten.mul_.Tensor(a, 2)
                              c: "f32[4]" = torch.ops.aten.add.Tensor(a, b)
                              return (c,))";
  EXPECT_EQ(plan_of(kX, body),
            (Lines{"sin(x0) -> a0", "mul.Tensor(a0, n) -> a0", "add.Tensor(a0, a0, 1) -> a1", "gives a1"}));
  // Which becomes memory of its own: whoever reads it reads what was written last.
  EXPECT_EQ(plan_of(kX, body, "split rewritten buffers"),
            (Lines{"sin(x0) -> a0", "mul.Tensor(a0, n) -> a1", "add.Tensor(a1, a1, 1) -> a2", "gives a2"}));
}

TEST_F(Plans, APartThatIsWrittenStaysWhereItIs) {
  const std::string body = R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                              v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 0, 2)
                              b: "f32[2]" = torch.ops.aten.mul_.Tensor(v, 2)
                              return (a,))";
  EXPECT_EQ(plan_of(kX, body, "split rewritten buffers"),
            (Lines{"sin(x0) -> a0", "mul.Tensor(a0, n) -> a0", "gives a0"}));
}

TEST_F(Plans, InputsThatAreWrittenAreCopied) {
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.add_.Tensor(x, 1)
                           b: "f32[4]" = torch.ops.aten.sin.default(x)
                           return (b,))",
                    "mark outputs"),
            (Lines{"clone(x0, None) -> a0", "add.Tensor(a0, n, 1) -> y0", "sin(y0) -> y1", "gives y1 y0"}));
}

TEST_F(Plans, WhatLeavesIsNobodysMemory) {
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                           v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 0, 2)
                           b: "f32[4]" = torch.ops.aten.cos.default(a)
                           return (v, x))",
                    "mark outputs"),
            (Lines{"sin(x0) -> y0", "cos(y0) -> a0", "gives y0 x0"}));
}

TEST_F(Plans, WhatNobodyReadsIsDropped) {
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                           b: "f32[4]" = torch.ops.aten.cos.default(a)
                           c: "f32[4]" = torch.ops.aten.neg.default(x)
                           return (c,))",
                    "drop unread steps"),
            (Lines{"neg(x0) -> y0", "gives y0"}));
  // Numbers that are drawn later would be others.
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.rand_like.default(x)
                           c: "f32[4]" = torch.ops.aten.neg.default(x)
                           return (c,))",
                    "drop unread steps")
                .size(),
            3U);
  EXPECT_EQ(plan_of("x: \"f32[2, 4]\"", R"(topk = torch.ops.aten.topk.default(x, 2)  #| (self, k); -> items
                                           v: "f32[2, 2]" = topk[0]  #| item
                                           i: "i64[2, 2]" = topk[1]  #| item
                                           return (i,))",
                    "drop unread steps"),
            (Lines{"topk(x0, 2, -1, True, True) -> a0, y0", "gives y0"}));
}

TEST_F(Plans, RunsGiveWhatOperatorsGive) {
  plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                 b: "f32[4]" = torch.ops.aten.mul_.Tensor(a, 2)
                 v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 1, 3)
                 w: "f32[2]" = torch.ops.aten.add_.Tensor(v, 1)
                 c: "f32[4]" = torch.ops.aten.cos.default(b)
                 return (c,))",
          "place buffers");
  Tensor a = ops::call(context, "aten::mul.Tensor", ops::call(context, "aten::sin", given[0]), 2);
  for (const int64_t i : {1, 2}) a.mutable_data<float>()[i] += 1;
  EXPECT_LT(compare(run(), ops::call(context, "aten::cos", a)).max_abs, 1e-7);
}

TEST_F(Plans, PassesHaveNamesAndAnOrder) {
  std::vector<std::string_view> names;
  for (const PlanPass& pass : plan_passes()) names.push_back(pass.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{
                       "split rewritten buffers", "mark outputs", "drop unread steps", "prepare images",
                       "prepare products", "prepare recurrent networks", "prepare kernels",
                       "fuse elementwise steps", "add transfers", "place buffers"}));
}

}  // namespace
}  // namespace flambeau::runtime
