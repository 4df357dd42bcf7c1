// Values are PyTorch 2.13's.
#include "flambeau/ops/dense/test_tensors.h"

namespace flambeau::ops {
namespace {

using Convolutions = OperatorTest;

TEST_F(Convolutions, HaveGroupsStridesAndPadding) {
  const Tensor out = call(context, "aten::conv2d", ramp({1, 2, 3, 3}), ramp({2, 1, 2, 2}),
                          floats({2}, {1, 2}), Dims{2, 2}, Dims{1, 1}, Dims{1, 1}, 2);
  EXPECT_EQ(out.sizes(), (Dims{1, 2, 2, 2}));
  expect_values(out, {1, 9, 22, 44, 65, 139, 167, 339});
}

TEST_F(Convolutions, KeepTheSize) {
  expect_values(call(context, "aten::conv2d.padding", ramp({1, 1, 2, 3}), ramp({1, 1, 2, 2}), std::nullopt,
                     Dims{1, 1}, "same"),
                {19, 25, 10, 4, 5, 0});
}

TEST_F(Convolutions, AreTransposed) {
  expect_values(call(context, "aten::conv_transpose1d", ramp({1, 2, 3}), ramp({2, 1, 2}), std::nullopt,
                     Dims{2}, Dims{0}, Dims{1}),
                {6, 9, 8, 13, 10, 17, 0});
}

TEST_F(Convolutions, KeepChannelsLast) {
  const Tensor image = ramp({1, 2, 3, 3});
  Tensor last =
      Tensor::strided(DType::kFloat32, {{1, 2, 3, 3}, {18, 1, 6, 2}, 0}, Storage::uninitialized(72));
  call(context, "aten::copy_", last, image);
  const Tensor plain = call(context, "aten::conv2d", image, ramp({4, 2, 2, 2}));
  const Tensor out = call(context, "aten::conv2d", last, ramp({4, 2, 2, 2}));
  EXPECT_EQ(out.strides(), (Dims{16, 1, 8, 4}));
  EXPECT_EQ(values_of(out), values_of(plain));
}

TEST_F(Convolutions, SayWhatDoesNotFit) {
  EXPECT_EQ(
      error_of("aten::conv2d", ramp({1, 3, 4, 4}), ramp({2, 2, 2, 2})),
      "operator 'aten::conv2d': Given groups=1, weight of size [2, 2, 2, 2], expected input[1, 3, 4, 4] to "
      "have 2 channels, but got 3 channels instead");
  EXPECT_EQ(
      error_of("aten::conv1d", ramp({1, 1, 2}), ramp({1, 1, 3})),
      "operator 'aten::conv1d': Calculated padded input size per channel: (2). Kernel size: (3). Kernel size "
      "can't be greater than actual input size");
  EXPECT_EQ(
      error_of("aten::conv2d", ramp({4, 4}), ramp({2, 2, 2, 2})),
      "operator 'aten::conv2d': Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of "
      "size: [4, 4]");
}

// With one result a stride says nothing, however large.
TEST_F(Convolutions, MayHaveAnyStride) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
    const auto as = [&](const Tensor& tensor) {
      return call(context, "aten::to.dtype", tensor, Value(dtype));
    };
    const Tensor out = call(context, "aten::conv1d", as(ramp({1, 2, 3})), as(ramp({1, 2, 2})), Value(),
                            Dims{INT64_MAX}, Dims{1});
    expect_values(call(context, "aten::to.dtype", out, Value(DType::kFloat32)), {9});
  }
}

}  // namespace
}  // namespace flambeau::ops
