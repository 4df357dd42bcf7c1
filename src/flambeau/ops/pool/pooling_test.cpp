// Values are PyTorch 2.13's.
#include "flambeau/ops/dense/test_tensors.h"

namespace flambeau::ops {
namespace {

using Pooling = OperatorTest;

TEST_F(Pooling, FindsTheLargestAndItsPlace) {
  const auto [values, indices] =
      call<std::tuple<Tensor, Tensor>>(context, "aten::max_pool2d_with_indices", ramp({1, 1, 3, 4}, -1),
                                       Dims{2, 2}, Dims{2, 2}, Dims{1, 1}, Dims{1, 1}, true);
  expect_values(values, {0, -1, -3, -4, -5, -7});
  EXPECT_EQ(values_of<int64_t>(indices), (std::vector<int64_t>{0, 1, 3, 4, 5, 7}));
}

TEST_F(Pooling, CountsThePaddingOrNot) {
  const Tensor image = ramp({1, 1, 3, 4});
  expect_values(call(context, "aten::avg_pool2d", image, Dims{2, 2}, Dims{2, 2}, Dims{1, 1}, true),
                {0, 0.75, 0.75, 3, 7.5, 4.5});
  expect_values(call(context, "aten::avg_pool2d", image, Dims{2, 2}, Dims{2, 2}, Dims{1, 1}, true, false),
                {0, 1.5, 3, 6, 7.5, 9});
  expect_values(call(context, "aten::adaptive_avg_pool2d", ramp({1, 1, 3, 5}), Dims{2, 3}),
                {3, 4.5, 6, 8, 9.5, 11});
  expect_values(call(context, "aten::adaptive_avg_pool2d", ramp({1, 2, 3, 5}), Dims{1, 1}), {7, 22});
}

TEST_F(Pooling, NanBeatsAll) {
  const Tensor out = call(context, "aten::max_pool1d", floats({1, 1, 4}, {NAN, 1, 2, 3}), Dims{2});
  EXPECT_TRUE(std::isnan(values_of(out)[0]));
  EXPECT_EQ(values_of(out)[1], 3);
}

TEST_F(Pooling, SaysWhatDoesNotFit) {
  EXPECT_EQ(
      error_of("aten::max_pool2d", ramp({1, 1, 2, 2}), Dims{2, 2}, Dims{2, 2}, Dims{2, 2}),
      "operator 'aten::max_pool2d': pad should be at most half of effective kernel size, but got pad=2, "
      "kernel_size=2 and dilation=1");
  EXPECT_EQ(
      error_of("aten::avg_pool2d", ramp({1, 1, 2, 2}), Dims{3, 3}),
      "operator 'aten::avg_pool2d': Given input size: [1, 1, 2, 2]. Calculated output size: [1, 1, 0, 0]. "
      "Output size is too small");
}

// Taps that meet nothing are not walked.
TEST_F(Pooling, WindowsMayBeEnormous) {
  const Dims kernel{2, int64_t{1} << 61};
  const Dims padding{0, int64_t{1} << 60};
  const auto [values, indices] = call<std::tuple<Tensor, Tensor>>(
      context, "aten::max_pool2d_with_indices", ramp({1, 3, 4}), kernel, kernel, padding, Dims{1, 1}, true);
  expect_values(values, {7, 11});
  EXPECT_EQ(values_of<int64_t>(indices), (std::vector<int64_t>{7, 11}));
  const Dims apart{INT64_MAX};
  expect_values(call(context, "aten::max_pool1d", ramp({1, 4}), Dims{1}, Dims{1}, Dims{0}, apart),
                {0, 1, 2, 3});
  EXPECT_EQ(error("aten::avg_pool2d", ramp({1, 3, 4}), Dims{kernel[1], kernel[1]}, Dims{kernel[1], kernel[1]},
                  Dims{padding[1], padding[1]}, true),
            "a size or an index does not fit in 64 bits");
}

}  // namespace
}  // namespace flambeau::ops
