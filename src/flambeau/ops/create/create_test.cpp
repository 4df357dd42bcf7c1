// Fresh tensors, copies, and tensors put together: values, types and strides that PyTorch 2.13 printed.
#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/kernels/random/generator.h"
#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::ops {
namespace {

TEST(Create, RangesHavePyTorchsTypeAndCount) {
  Fixture f;
  EXPECT_EQ(values_of<int64_t>(f.run("aten::arange.start_step", 5, 0, -2)), (std::vector<int64_t>{5, 3, 1}));
  const Tensor fractions = f.run("aten::arange.start_step", 1, 2, 0.3);
  EXPECT_EQ(fractions.dtype(), DType::kFloat32);
  EXPECT_EQ(values_of(fractions), (std::vector<float>{1.0F, 1.3F, 1.6F, 1.9F}));
  EXPECT_EQ(f.error("aten::arange.start", 3, 1), "upper bound and lower bound inconsistent with step sign");
  EXPECT_EQ(values_of(f.run("aten::linspace", 0, 1, 3)), (std::vector<float>{0, 0.5F, 1}));
  EXPECT_EQ(values_of(f.run("aten::eye.m", 2, 3)), (std::vector<float>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(values_of<int64_t>(f.run("aten::tril_indices", 3, 3, -1)),
            (std::vector<int64_t>{1, 2, 2, 0, 0, 1}));
}

TEST(Create, FullTakesTheTypeOfItsNumber) {
  Fixture f;
  EXPECT_EQ(f.run("aten::full", Dims{2}, 1).dtype(), DType::kInt64);
  EXPECT_EQ(f.run("aten::full", Dims{2}, 1.5).dtype(), DType::kFloat32);
  EXPECT_EQ(f.run("aten::full", Dims{2}, true).dtype(), DType::kBool);
  EXPECT_EQ(f.run("aten::scalar_tensor", 3).dtype(), DType::kFloat32);
  EXPECT_EQ(f.error("aten::zeros", Dims{2, -1}),
            "Trying to create tensor with negative dimension -1: [2, -1]");
}

TEST(Create, CatKeepsChannelsLastAndSkipsOldEmpties) {
  Fixture f;
  const Tensor last = call_with(f.context, "aten::clone", {ramp({1, 2, 3, 3})},
                                {{"memory_format", MemoryFormat::kChannelsLast}});
  const Tensor joined = f.run("aten::cat", TensorList{last, last}, 1);
  EXPECT_EQ(joined.strides(), (Dims{36, 1, 12, 4}));
  const Tensor skipped = f.run("aten::cat", TensorList{ramp({0}), ramp({2, 2})}, 1);
  EXPECT_EQ(values_of(skipped), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(f.error("aten::cat", TensorList{ramp({2, 2}), ramp({3, 3})}, 1),
            "Sizes of tensors must match except in dimension 1. Expected size 2 but got size 3 for tensor "
            "number 1 in "
            "the list.");
  EXPECT_EQ(values_of(f.run("aten::stack", TensorList{ramp({2}), ramp({2})}, 1)),
            (std::vector<float>{0, 0, 1, 1}));
}

TEST(Create, PadsInEveryMode) {
  Fixture f;
  const Tensor x = ramp({1, 2, 2});
  EXPECT_EQ(values_of(f.run("aten::constant_pad_nd", x, Dims{1, -1}, 9)), (std::vector<float>{9, 0, 9, 2}));
  EXPECT_EQ(values_of(f.run("aten::pad", x, Dims{1, 1, 1, 0}, "reflect")),
            (std::vector<float>{3, 2, 3, 2, 1, 0, 1, 0, 3, 2, 3, 2}));
  EXPECT_EQ(values_of(f.run("aten::pad", x, Dims{1, 2}, "replicate")),
            (std::vector<float>{0, 0, 1, 1, 1, 2, 2, 3, 3, 3}));
  EXPECT_EQ(values_of(f.run("aten::pad", x, Dims{1, 1}, "circular")),
            (std::vector<float>{1, 0, 1, 0, 3, 2, 3, 2}));
}

TEST(Create, RepeatsAndTurns) {
  Fixture f;
  const Tensor x = ramp({2, 2});
  EXPECT_EQ(values_of(f.run("aten::repeat", x, Dims{1, 2})), (std::vector<float>{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(values_of(f.run("aten::repeat_interleave.self_int", x, 2)),
            (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(values_of(f.run("aten::repeat_interleave.self_int", x, 2, 0)),
            (std::vector<float>{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(values_of(f.run("aten::flip", x, Dims{0, 1})), (std::vector<float>{3, 2, 1, 0}));
  EXPECT_EQ(values_of(f.run("aten::roll", x, Dims{1}, Dims{1})), (std::vector<float>{1, 0, 3, 2}));
  EXPECT_EQ(values_of(f.run("aten::roll", x, Dims{1})), (std::vector<float>{3, 0, 1, 2}));
  EXPECT_EQ(values_of(f.run("aten::rot90", x)), (std::vector<float>{1, 3, 0, 2}));
  EXPECT_EQ(values_of(f.run("aten::tril", x, -1)), (std::vector<float>{0, 0, 2, 0}));
  EXPECT_EQ(values_of(f.run("aten::select_scatter", x, ramp({2}), 1, 0)), (std::vector<float>{0, 1, 1, 3}));
}

TEST(Create, CopiesOfTurnedTensorsAreWhole) {
  Fixture f;
  const Tensor x = ramp({5, 70, 9});
  const Tensor turned = f.run("aten::permute", x, Dims{2, 0, 1});
  const Tensor copy = f.run("aten::clone", turned, MemoryFormat::kContiguous);
  for (int64_t a = 0; a < 9; ++a) {
    for (int64_t b = 0; b < 5; ++b) {
      for (int64_t c = 0; c < 70; ++c) {
        ASSERT_EQ(copy.data<float>()[(a * 5 + b) * 70 + c], x.data<float>()[(b * 70 + c) * 9 + a]);
      }
    }
  }
}

TEST(Create, ToGivesTheTensorItselfWhereNothingChanges) {
  Fixture f;
  const Tensor x = ramp({2, 2});
  EXPECT_EQ(f.run("aten::to.dtype", x, DType::kFloat32).storage(), x.storage());
  const Tensor whole = f.run("aten::to.dtype", x, DType::kInt64);
  EXPECT_EQ(values_of<int64_t>(whole), (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(Random, DrawsWhatPyTorchDraws) {
  Fixture f;
  EXPECT_EQ(f.error("aten::rand", Dims{3}), "the operator draws random numbers, and no generator was given");
  kernels::Generator generator(0);
  f.context.generator = &generator;
  EXPECT_EQ(values_of(f.run("aten::rand", Dims{3})),
            (std::vector<float>{0.49625658988952637F, 0.7682217955589294F, 0.08847743272781372F}));
  generator.manual_seed(0);
  EXPECT_EQ(values_of<int64_t>(f.run("aten::randint", 10, Dims{4})), (std::vector<int64_t>{4, 9, 3, 0}));
  EXPECT_EQ(f.run("aten::dropout", ramp({4}), 0.5, false).element_count(), 4);
  EXPECT_EQ(f.error("aten::dropout", ramp({4}), 1.5, true),
            "dropout probability has to be between 0 and 1, but got 1.5");
}

TEST(Random, ProbabilitiesGiveNoComplexNumbers) {
  Fixture f;
  kernels::Generator generator(7);
  f.context.generator = &generator;
  const Tensor complex = Tensor::zeros(DType::kComplex64, Dims{3});
  EXPECT_EQ(f.error("aten::bernoulli.Tensor", complex, ramp({3}, 0.25F)),
            "\"bernoulli_tensor_cpu_self_\" not implemented for 'ComplexFloat'");
  EXPECT_EQ(f.error("aten::bernoulli.p", complex, 0.5),
            "\"bernoulli_scalar_cpu_\" not implemented for 'ComplexFloat'");
  EXPECT_EQ(f.error("aten::random", complex), "\"random_kernel_cpu\" not implemented for 'ComplexFloat'");
}

TEST(Create, ScalarsHaveNoDimensionToRepeat) {
  Fixture f;
  const Tensor twice = f.run("aten::full", Dims{1}, 2);
  EXPECT_EQ(f.error("aten::repeat_interleave.self_Tensor", scalar_tensor(5, DType::kInt64), twice, -1),
            "Dimension specified as -1 but tensor has no dimensions");
}

TEST(Symbols, AssertionsNameTheValue) {
  Fixture f;
  EXPECT_EQ(f.error("aten::_assert_scalar", 0, "u0 >= 1"), "u0 >= 1 (the value asserted is 0)");
  EXPECT_EQ(f.error("aten::sym_constrain_range", 5, 6, 10), "Invalid value range for 5 between [6, 10]");
  EXPECT_EQ(f.error("aten::_assert_tensor_metadata", ramp({2}), Value(), Value(), DType::kInt64),
            "Tensor dtype mismatch! Expected: int64 Got: float32");
  EXPECT_EQ(call<int64_t>(f.context, "aten::sym_size.int", ramp({2, 3}), -1), 3);
}

}  // namespace
}  // namespace flambeau::ops
