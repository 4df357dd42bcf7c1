// What the recorder writes down: constants, memory that is written to, orders of images.
#include "flambeau/runtime/plan/record.h"

#include "flambeau/base/error.h"
#include "flambeau/runtime/plan/plan_test_programs.h"

namespace flambeau::runtime {
namespace {

using Records = Plans;

TEST_F(Records, ConstantsThatARunChangesBecomeItsMemory) {
  EXPECT_EQ(plan_of("c_w: \"f32[4]\", x: \"f32[4]\"",
                    R"(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_w, 2)
                       b: "f32[4]" = torch.ops.aten.add_.Tensor(a, x)
                       return (b,))",
                    "place buffers"),
            (Lines{"clone(c, None) -> a0", "add.Tensor(a0, x0, 1) -> y0", "gives y0"}));
  expect_right();
}

TEST_F(Records, ConstantsThatPlanningMadeMayBeWrittenWhilePlanning) {
  EXPECT_EQ(plan_of("c_w: \"f32[4]\", x: \"f32[4]\"",
                    R"(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_w, 2)
                       b: "f32[4]" = torch.ops.aten.add_.Tensor(a, 1)
                       c: "f32[4]" = torch.ops.aten.mul.Tensor(x, b)
                       return (c,))"),
            (Lines{"mul.Tensor(x0, c) -> a0", "gives a0"}));
  EXPECT_FLOAT_EQ(plan->steps[0].arguments[1].tensor().data<float>()[0], given[0].data<float>()[0] * 2 + 1);
}

TEST_F(Records, WeightsAreNeverWritten) {
  plan_of("c_w: \"f32[4]\", x: \"f32[4]\"",
          R"(v: "f32[2]" = torch.ops.aten.slice.Tensor(c_w, 0, 0, 2)
             a: "f32[4]" = torch.ops.aten.add.Tensor(x, c_w)
             return (a,))",
          "place buffers");
  const Tensor before = ops::call(context, "aten::clone", given[0]);
  run();
  EXPECT_EQ(compare(given[0], before).max_abs, 0);
}

TEST_F(Records, LargeConstantsAreMadeInEachRun) {
  // 20 MiB out of nothing are not kept for as long as the program is.
  const Lines lines = plan_of("x: \"f32[1]\"", R"(a: "f32[5242880]" = torch.ops.aten.arange.default(5242880)
                                                   b: "f32[5242880]" = torch.ops.aten.add.Tensor(a, x)
                                                   return (b,))");
  EXPECT_EQ(lines.size(), 3U) << ::testing::PrintToString(lines);
}

TEST_F(Records, RandomNumbersAreDrawnInEachRun) {
  EXPECT_EQ(plan_of("c_w: \"f32[4]\"", R"(a: "f32[4]" = torch.ops.aten.rand_like.default(c_w)
                                          return (a,))")
                .size(),
            2U);
}

TEST_F(Records, NothingIsDoneForNothing) {
  EXPECT_EQ(plan_of("x: \"f32[0, 4]\"", R"(a: "f32[0, 4]" = torch.ops.aten.sin.default(x)
                                           b: "f32[0, 4]" = torch.ops.aten.cos.default(a)
                                           return (b,))"),
            (Lines{"gives a0"}));
}

TEST_F(Records, CopiesOfViewsAreSteps) {
  EXPECT_EQ(plan_of("x: \"f32[2, 3]\"", R"(a: "f32[3, 2]" = torch.ops.aten.permute_copy.default(x, [1, 0])
                                           return (a,))"),
            (Lines{"clone(x0, contiguous_format) -> a0", "gives a0"}));
}

TEST_F(Records, StepsKnowTheirNodeAndWork) {
  plan_of("x: \"f32[2, 3]\"", R"(first: "f32[2, 3]" = torch.ops.aten.sin.default(x)
                                 second: "f32[2, 3]" = torch.ops.aten.cos.default(first)
                                 return (second,))");
  EXPECT_EQ(plan->steps[0].node, "first");
  EXPECT_EQ(plan->steps[1].node, "second");
  EXPECT_EQ(plan->steps[0].work.bytes, 2 * 6 * sizeof(float));
  EXPECT_EQ(plan->steps[0].work.flops, 6U);
}

TEST_F(Records, WhatDataDecidesHasNoPlan) {
  EXPECT_THROW(plan_of("x: \"f32[4]\"", R"(a: "i64[u0, 1]" = torch.ops.aten.nonzero.default(x)
                                           return (a,))"),
               Error);
}

// A backend that likes its images with the channels last, and has no layers.
class LikesLast final : public backends::Backend {
 public:
  std::string_view name() const override { return "last"; }
  kernels::ImageOrder image_order(const ops::ConvolutionCall&) const override {
    return kernels::ImageOrder::kChannelsLast;
  }
};

class Orders : public Plans {
 protected:
  Orders() { backend = std::make_shared<LikesLast>(); }
  size_t copies() const {
    return static_cast<size_t>(
        std::ranges::count_if(plan->steps, [](const Step& step) { return step.name() == "aten::clone"; }));
  }
};

const std::string kImage = "c_w: \"f32[3, 3, 3, 3]\", x: \"f32[1, 3, 9, 9]\"";

TEST_F(Orders, ImagesStayTurnedWhereNobodyCares) {
  plan_of(kImage, R"(a: "f32[1, 3, 7, 7]" = torch.ops.aten.conv2d.default(x, c_w)
                     b: "f32[1, 3, 7, 7]" = torch.ops.aten.sin.default(a)
                     c: "f32[1, 3, 7, 7]" = torch.ops.aten.add.Tensor(a, b)
                     d: "f32[1, 3, 5, 5]" = torch.ops.aten.conv2d.default(c, c_w)
                     return (d,))",
          "place buffers");
  EXPECT_EQ(copies(), 2U) << "one before, one after";
  expect_right();
}

TEST_F(Orders, WhoLooksAtStridesSeesTheProgramsOwn) {
  plan_of(kImage, R"(a: "f32[1, 3, 7, 7]" = torch.ops.aten.conv2d.default(x, c_w)
                     b: "f32[1, 147]" = torch.ops.aten.view.default(a, [1, 147])
                     c: "f32[1, 147]" = torch.ops.aten.sin.default(b)
                     return (c,))",
          "place buffers");
  EXPECT_EQ(copies(), 2U);
  expect_right();
}

TEST_F(Orders, AnImageIsTurnedOnceForAllWhoWantIt) {
  plan_of(kImage, R"(a: "f32[1, 3, 7, 7]" = torch.ops.aten.conv2d.default(x, c_w)
                     b: "f32[1, 3, 7, 7]" = torch.ops.aten.conv2d.default(x, c_w)
                     c: "f32[1, 3, 7, 7]" = torch.ops.aten.mul.Tensor(a, b)
                     return (c,))",
          "place buffers");
  EXPECT_EQ(copies(), 2U);
  expect_right();
}

TEST_F(Orders, WritesThroughViewsForbidIt) {
  plan_of(kImage, R"(a: "f32[1, 3, 7, 7]" = torch.ops.aten.conv2d.default(x, c_w)
                     v: "f32[1, 3, 7]" = torch.ops.aten.select.int(a, 2, 0)
                     w: "f32[1, 3, 7]" = torch.ops.aten.mul_.Tensor(v, 2)
                     b: "f32[1, 3, 7, 7]" = torch.ops.aten.sin.default(a)
                     return (b,))",
          "place buffers");
  EXPECT_EQ(copies(), 0U);
  expect_right();
}

}  // namespace
}  // namespace flambeau::runtime
