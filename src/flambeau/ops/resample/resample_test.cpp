// Values are PyTorch 2.13's.
#include "flambeau/ops/dense/test_tensors.h"

namespace flambeau::ops {
namespace {

using Resample = OperatorTest;

TEST_F(Resample, BetweenPixels) {
  expect_values(call(context, "aten::upsample_bilinear2d", ramp({1, 1, 2, 2}), Dims{3, 4}, false),
                {0, 0.25, 0.75, 1, 1, 1.25, 1.75, 2, 2, 2.25, 2.75, 3});
  expect_values(call(context, "aten::upsample_bicubic2d", ramp({1, 1, 2, 3}), Dims{2, 4}, true),
                {0, 0.57407F, 1.42593F, 2, 3, 3.57407F, 4.42592F, 5});
  expect_values(call(context, "aten::upsample_nearest2d", ramp({1, 1, 2, 2}), Dims{3, 3}),
                {0, 0, 1, 0, 0, 1, 2, 2, 3});
  expect_values(call(context, "aten::upsample_nearest2d.vec", ramp({1, 1, 1, 2}), std::nullopt,
                     std::vector<double>{2.0, 1.5}),
                {0, 0, 1, 0, 0, 1});
}

TEST_F(Resample, BytesAreRoundedAfterEachDimension) {
  const Tensor image = Tensor::zeros(DType::kUInt8, Dims{1, 1, 3, 3});
  for (int i = 0; i < 9; ++i) image.mutable_data()[i] = static_cast<uint8_t>(i * 20);
  EXPECT_EQ(values_of<uint8_t>(call(context, "aten::upsample_bilinear2d", image, Dims{2, 5}, false)),
            (std::vector<uint8_t>{15, 23, 35, 47, 55, 105, 113, 125, 137, 145}));
}

TEST_F(Resample, AtPlacesOfAGrid) {
  expect_values(call(context, "aten::grid_sampler_2d", ramp({1, 1, 2, 2}),
                     floats({1, 1, 2, 2}, {-0.5, 0.25, 1.5, 0}), 0, 2, false),
                {1.5, 2});
}

TEST_F(Resample, WindowsAreColumns) {
  expect_values(
      call(context, "aten::im2col", ramp({1, 1, 2, 3}), Dims{2, 2}, Dims{1, 1}, Dims{0, 1}, Dims{1, 2}),
      {0, 1, 0, 2, 0, 4, 3, 5});
  expect_values(call(context, "aten::col2im", ramp({1, 4, 4}), Dims{3, 3}, Dims{2, 2}, Dims{1, 1}, Dims{0, 0},
                     Dims{1, 1}),
                {0, 5, 5, 10, 30, 20, 10, 25, 15});
}

TEST_F(Resample, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of("aten::upsample_nearest2d", ramp({1, 2, 2}), Dims{3, 3}),
            "operator 'aten::upsample_nearest2d': It is expected input_size equals to 4, but got size 3");
  const Tensor place = Tensor::zeros(DType::kInt64, Dims{1, 1, 1, 1});
  place.mutable_data<int64_t>()[0] = 4;
  EXPECT_EQ(error_of("aten::max_unpool2d", ramp({1, 1, 1, 1}), place, Dims{2, 2}),
            "operator 'aten::max_unpool2d': Found an invalid max index: 4 (output volumes are of size 2x2)");
}

}  // namespace
}  // namespace flambeau::ops
