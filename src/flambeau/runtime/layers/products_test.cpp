// Products with constant weights as layers of each backend.
#include "flambeau/runtime/plan/plan_test_programs.h"

namespace flambeau::runtime {
namespace {

using Products = PlansOfBackends;
FLAMBEAU_FOR_EACH_BACKEND(Products);

const std::string kLinear = "c_w: \"f32[3, 4]\", c_b: \"f32[3]\", x: \"f32[2, 4]\"";

TEST_P(Products, TakeWhatFollowsThem) {
  EXPECT_EQ(plan_of(kLinear, R"(a: "f32[2, 3]" = torch.ops.aten.linear.default(x, c_w, c_b)
                                b: "f32[2, 3]" = torch.ops.aten.relu.default(a)
                                c: "f32[2, 3]" = torch.ops.aten.sin.default(b)
                                return (c,))",
                    "place buffers"),
            (Lines{"linear + relu(x0) -> a0", "sin(a0) -> y0", "gives y0"}));
  expect_right();
}

TEST_P(Products, TakeEachActivation) {
  for (const std::string activation :
       {"relu.default(a)", "leaky_relu.default(a, 0.1)", "relu6.default(a)", "hardtanh.default(a, -0.5, 0.5)",
        "gelu.default(a)", "gelu.default(a, approximate = 'tanh')", "silu.default(a)", "tanh.default(a)",
        "sigmoid.default(a)", "hardswish.default(a)"}) {
    plan_of(kLinear,
            "a: \"f32[2, 3]\" = torch.ops.aten.linear.default(x, c_w, c_b)\n"
            "b: \"f32[2, 3]\" = torch.ops.aten." +
                activation + "\nreturn (b,)",
            "place buffers");
    EXPECT_EQ(plan->steps.size(), 1U) << activation;
    expect_right();
  }
}

TEST_P(Products, TakeSeveralInARow) {
  EXPECT_EQ(plan_of(kLinear, R"(a: "f32[2, 3]" = torch.ops.aten.linear.default(x, c_w, c_b)
                                b: "f32[2, 3]" = torch.ops.aten.tanh.default(a)
                                c: "f32[2, 3]" = torch.ops.aten.sigmoid.default(b)
                                return (c,))",
                    "place buffers"),
            (Lines{"linear + tanh + sigmoid(x0) -> y0", "gives y0"}));
  expect_right();
}

TEST_P(Products, AreNotChangedWhereTwoReadThem) {
  EXPECT_EQ(plan_of(kLinear, R"(a: "f32[2, 3]" = torch.ops.aten.linear.default(x, c_w, c_b)
                                b: "f32[2, 3]" = torch.ops.aten.relu.default(a)
                                c: "f32[2, 3]" = torch.ops.aten.mul.Tensor(a, b)
                                return (c,))",
                    "place buffers"),
            (Lines{"linear(x0) -> a0", "relu + mul(a0) -> y0", "gives y0"}));
  expect_right();
}

TEST_P(Products, AddToWhatNobodyElseNeeds) {
  // The sum is done in the memory of the other summand.
  EXPECT_EQ(plan_of("c_w: \"f32[4, 4]\", x: \"f32[2, 4]\"",
                    R"(r: "f32[2, 4]" = torch.ops.aten.sin.default(x)
                       a: "f32[2, 4]" = torch.ops.aten.linear.default(x, c_w)
                       b: "f32[2, 4]" = torch.ops.aten.add.Tensor(r, a)
                       c: "f32[2, 4]" = torch.ops.aten.relu.default(b)
                       d: "f32[2, 4]" = torch.ops.aten.cos.default(c)
                       return (d,))",
                    "place buffers"),
            (Lines{"sin(x0) -> a0", "linear + add + relu(x0) -> a0", "cos(a0) -> y0", "gives y0"}));
  expect_right();
}

TEST_P(Products, AddBehindAnActivation) {
  EXPECT_EQ(plan_of("c_w: \"f32[4, 4]\", x: \"f32[2, 4]\"",
                    R"(r: "f32[2, 4]" = torch.ops.aten.sin.default(x)
                       a: "f32[2, 4]" = torch.ops.aten.linear.default(x, c_w)
                       b: "f32[2, 4]" = torch.ops.aten.gelu.default(a)
                       c: "f32[2, 4]" = torch.ops.aten.add.Tensor(b, r)
                       d: "f32[2, 4]" = torch.ops.aten.cos.default(c)
                       return (d,))",
                    "place buffers"),
            (Lines{"sin(x0) -> a0", "linear + gelu + add(x0) -> a0", "cos(a0) -> y0", "gives y0"}));
  expect_right();
}

TEST_P(Products, DoNotAddToWhatIsNeededLater) {
  plan_of("c_w: \"f32[4, 4]\", x: \"f32[2, 4]\"",
          R"(r: "f32[2, 4]" = torch.ops.aten.sin.default(x)
             a: "f32[2, 4]" = torch.ops.aten.linear.default(x, c_w)
             b: "f32[2, 4]" = torch.ops.aten.add.Tensor(a, r)
             c: "f32[2, 4]" = torch.ops.aten.mul.Tensor(b, r)
             return (c,))",
          "place buffers");
  EXPECT_EQ(plan->steps[0].name(), "aten::linear");
  EXPECT_EQ(plan->steps.size(), 2U) << "all others are one";
  expect_right();
}

TEST_P(Products, DoNotAddToInputsOrIntoOutputs) {
  EXPECT_EQ(plan_of("c_w: \"f32[4, 4]\", x: \"f32[2, 4]\"",
                    R"(a: "f32[2, 4]" = torch.ops.aten.linear.default(x, c_w)
                       b: "f32[2, 4]" = torch.ops.aten.add.Tensor(a, x)
                       return (b,))",
                    "place buffers"),
            (Lines{"linear(x0) -> a0", "add.Tensor(a0, x0, 1) -> y0", "gives y0"}));
  expect_right();
  EXPECT_EQ(plan_of("c_w: \"f32[4, 4]\", x: \"f32[2, 4]\"",
                    R"(r: "f32[2, 4]" = torch.ops.aten.sin.default(x)
                       a: "f32[2, 4]" = torch.ops.aten.linear.default(x, c_w)
                       b: "f32[2, 4]" = torch.ops.aten.add.Tensor(a, r)
                       return (b,))",
                    "place buffers"),
            (Lines{"linear(x0) -> a0", "sin + add(x0, a0) -> y0", "gives y0"}));
  expect_right();
}

TEST_P(Products, OfAnyRowsAndSpelling) {
  for (const std::string body : {"a: \"f32[40, 5]\" = torch.ops.aten.mm.default(x, c_w)\nreturn (a,)",
                                 "a: \"f32[40, 5]\" = torch.ops.aten.addmm.default(c_b, x, c_w)\nreturn (a,)",
                                 "a: \"f32[40, 5]\" = torch.ops.aten.matmul.default(x, c_w)\nreturn (a,)"}) {
    plan_of("c_w: \"f32[30, 5]\", c_b: \"f32[5]\", x: \"f32[40, 30]\"", body, "place buffers");
    EXPECT_EQ(layers(), 1U) << body;
    expect_right();
  }
  plan_of("c_w: \"f32[6, 4]\", x: \"f32[2, 3, 5, 4]\"",
          R"(a: "f32[2, 3, 5, 6]" = torch.ops.aten.linear.default(x, c_w)
             return (a,))",
          "place buffers");
  EXPECT_EQ(layers(), 1U);
  expect_right();
}

TEST_P(Products, OfDoublesTakeNothing) {
  EXPECT_EQ(plan_of("c_w: \"f64[3, 4]\", x: \"f64[9, 4]\"",
                    R"(a: "f64[9, 3]" = torch.ops.aten.linear.default(x, c_w)
                       b: "f64[9, 3]" = torch.ops.aten.relu.default(a)
                       return (b,))",
                    "place buffers"),
            (Lines{"linear(x0) -> a0", "relu(a0) -> y0", "gives y0"}));
  EXPECT_EQ(layers(), 1U);
}

TEST_P(Products, WithWeightsThatChangeStayOperators) {
  const Lines plain = {"linear(x0, x1, None) -> y0", "gives y0"};
  EXPECT_EQ(plan_of("x: \"f32[2, 4]\", w: \"f32[3, 4]\"",
                    R"(a: "f32[2, 3]" = torch.ops.aten.linear.default(x, w)
                       return (a,))",
                    "place buffers"),
            plain);
  EXPECT_EQ(layers(), 0U);
  expect_right();
}

TEST_P(Products, OfTurnedInputsStayOperators) {
  plan_of("c_w: \"f32[3, 4]\", x: \"f32[4, 2]\"",
          R"(t: "f32[2, 4]" = torch.ops.aten.t.default(x)
             a: "f32[2, 3]" = torch.ops.aten.linear.default(t, c_w)
             return (a,))",
          "place buffers");
  EXPECT_EQ(layers(), 0U);
  expect_right();
}

TEST_P(Products, SharePackedWeightsAmongPlans) {
  const std::string body = R"(a: "f32[20, 3]" = torch.ops.aten.linear.default(x, c_w, c_b)
                              return (a,))";
  plan_of("c_w: \"f32[3, 4]\", c_b: \"f32[3]\", x: \"f32[20, 4]\"", body, "place buffers");
  const Tensor weight = given[0];
  const std::unique_ptr<Plan> first = std::move(plan);
  const std::vector<PlanInput> inputs = {
      {Value(weight), true}, {Value(given[1]), true}, {Value(given[2]), false}};
  const std::unique_ptr<Plan> second =
      make_plan(context, *code, {false, false, false}, inputs, backend, packed);
  const Tensor* const tensors[] = {nullptr, nullptr, &given[2]};
  const Tensor one = Workspace(*first).run(context, tensors).at(0).tensor();
  const Tensor other = Workspace(*second).run(context, tensors).at(0).tensor();
  EXPECT_EQ(compare(one, other).max_abs, 0);
  if (GetParam() != "portable") return;
  const auto size = [](const kernels::PackedMatrix& matrix) { return matrix.bytes(); };
  EXPECT_GT(packed.with<kernels::PackedMatrix>(weight, size), 0U);
}

}  // namespace
}  // namespace flambeau::runtime
