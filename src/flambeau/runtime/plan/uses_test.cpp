#include "flambeau/runtime/plan/uses.h"

#include "flambeau/runtime/plan/plan_test_programs.h"

namespace flambeau::runtime {
namespace {

class UsesOf : public Plans {
 protected:
  static const Uses::Of& of(const Uses& uses, const Plan& plan, const Tensor& tensor) {
    return uses.buffers[*plan.find_buffer(tensor)];
  }
};

const std::string kTwo = "x: \"f32[4]\", y: \"f32[4]\"";

TEST_F(UsesOf, WhoWritesAndWhoReads) {
  plan_of(kTwo, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                   b: "f32[4]" = torch.ops.aten.mul.Tensor(a, y)
                   c: "f32[4]" = torch.ops.aten.add.Tensor(a, b)
                   return (c,))",
          "mark outputs");
  const Uses uses(*plan);
  const Uses::Of& a = of(uses, *plan, plan->steps[0].outputs[0]);
  EXPECT_EQ(a.writer, 0U);
  EXPECT_EQ(a.readers, (std::vector<size_t>{1, 2}));
  EXPECT_FALSE(a.has_other_writers);
  EXPECT_FALSE(a.leaves);
  const Uses::Of& x = of(uses, *plan, plan->steps[0].arguments[0].tensor());
  EXPECT_EQ(x.writer, Uses::kNobody);
  EXPECT_TRUE(x.leaves);
  EXPECT_TRUE(of(uses, *plan, plan->steps[2].outputs[0]).leaves);
  EXPECT_EQ(uses.only_reader(*plan, 0), Uses::kNobody);
  EXPECT_EQ(uses.only_reader(*plan, 1), 2U);
  EXPECT_EQ(uses.only_reader(*plan, 2), Uses::kNobody) << "it leaves";
}

TEST_F(UsesOf, AReaderOfAPartIsNoOnlyReader) {
  plan_of(kTwo, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                   v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 0, 2)
                   b: "f32[2]" = torch.ops.aten.cos.default(v)
                   return (b,))",
          "mark outputs");
  EXPECT_EQ(Uses(*plan).only_reader(*plan, 0), Uses::kNobody);
}

TEST_F(UsesOf, AReaderThatReadsTwiceIsOne) {
  plan_of(kTwo, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                   b: "f32[4]" = torch.ops.aten.mul.Tensor(a, a)
                   return (b,))",
          "mark outputs");
  EXPECT_EQ(Uses(*plan).only_reader(*plan, 0), 1U);
}

TEST_F(UsesOf, TwoWritersAreSeen) {
  plan_of(kTwo, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                   v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 0, 2)
                   w: "f32[2]" = torch.ops.aten.mul_.Tensor(v, 2)
                   b: "f32[4]" = torch.ops.aten.cos.default(a)
                   return (b,))",
          "mark outputs");
  const Uses uses(*plan);
  EXPECT_TRUE(of(uses, *plan, plan->steps[0].outputs[0]).has_other_writers);
  EXPECT_EQ(uses.only_reader(*plan, 0), Uses::kNobody);
}

TEST_F(UsesOf, StepsThatWriteToTheirArguments) {
  plan_of("x: \"f32[4]\", i: \"i64[2]\", s: \"f32[2]\"",
          R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
             b: "f32[4]" = torch.ops.aten.index_put_.default(a, [i], s)
             c: "f32[4]" = torch.ops.aten.cos.default(a)
             return (c,))");
  size_t written = 0;
  for (const Step& step : plan->steps) for_each_written(step, [&](const Tensor&) { ++written; });
  EXPECT_GE(written, 3U);
}

TEST_F(UsesOf, TheSameView) {
  const Tensor tensor = Tensor::zeros(DType::kFloat32, Dims{2, 2});
  EXPECT_TRUE(is_same_view(tensor, tensor));
  EXPECT_FALSE(is_same_view(tensor, tensor.with_geometry({Dims{2, 2}, Dims{1, 2}, 0})));
  EXPECT_FALSE(is_same_view(tensor, tensor.with_geometry({Dims{2}, Dims{1}, 0})));
  EXPECT_FALSE(
      is_same_view(tensor.with_geometry({Dims{2}, Dims{1}, 0}), tensor.with_geometry({Dims{2}, Dims{1}, 2})));
  EXPECT_FALSE(is_same_view(tensor, Tensor::zeros(DType::kFloat32, Dims{2, 2})));
}

TEST_F(UsesOf, SplittingLeavesTheResultAsItIs) {
  const std::string body = R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                              b: "f32[4]" = torch.ops.aten.mul_.Tensor(a, y)
                              c: "f32[4]" = torch.ops.aten.add_.Tensor(a, 1)
                              d: "f32[4]" = torch.ops.aten.cos.default(a)
                              return (d,))";
  EXPECT_EQ(plan_of(kTwo, body, "split rewritten buffers"),
            (Lines{"sin(x0) -> a0", "mul.Tensor(a0, x1) -> a1", "add.Tensor(a1, n, 1) -> a2", "cos(a2) -> a3",
                   "gives a3"}));
  plan_of(kTwo, body, "place buffers");
  expect_right();
}

}  // namespace
}  // namespace flambeau::runtime
