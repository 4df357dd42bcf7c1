// Values are PyTorch 2.13's.
#include "flambeau/ops/dense/test_tensors.h"

namespace flambeau::ops {
namespace {

using Backward = OperatorTest;
using Three = std::vector<Value>;

Tensor integers(std::initializer_list<int64_t> sizes, const std::vector<int64_t>& values) {
  Tensor tensor = Tensor::zeros(DType::kInt64, Dims(sizes));
  std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

TEST_F(Backward, OfAConvolutionGivesWhatIsAskedForAlone) {
  const Tensor gradient = ramp({1, 1, 2, 2}), input = ramp({1, 1, 3, 3}), weight = ramp({1, 1, 2, 2});
  const auto run = [&](const std::vector<bool>& mask) {
    return call<Three>(context, "aten::convolution_backward", gradient, input, weight, Dims{1}, Dims{1, 1},
                       Dims{0, 0}, Dims{1, 1}, false, Dims{0, 0}, 1, mask);
  };
  const Three all = run({true, true, true});
  expect_values(all.at(0).tensor(), {0, 0, 1, 0, 4, 6, 4, 12, 9});
  expect_values(all.at(1).tensor(), {19, 25, 37, 43});
  expect_values(all.at(2).tensor(), {6});
  const Three one = run({false, true, false});
  EXPECT_TRUE(one.at(0).is_none());
  EXPECT_TRUE(one.at(2).is_none());
  expect_values(one.at(1).tensor(), {19, 25, 37, 43});
}

TEST_F(Backward, SaysWhatDoesNotFit) {
  EXPECT_EQ(
      error("aten::convolution_backward", ramp({1, 1, 3, 2}), ramp({1, 1, 3, 3}), ramp({1, 1, 2, 2}), Dims{1},
            Dims{1, 1}, Dims{0, 0}, Dims{1, 1}, false, Dims{0, 0}, 1, std::vector<bool>{true, true, true}),
      "convolution_backward: expected a gradient of sizes [1, 1, 2, 2], but got [1, 1, 3, 2]");
  EXPECT_EQ(error("aten::elu_backward", ramp({2}), -1, 1, 1, true, ramp({2})),
            "In-place elu backward calculation is triggered with a negative slope which is not supported.");
  EXPECT_EQ(error("aten::native_dropout_backward", ramp({2}), ramp({2}), 2.0),
            "Mask should be Bool Scalar Type, but got float32");
  EXPECT_EQ(error("aten::upsample_nearest2d_backward", ramp({1, 1, 4, 4}), Dims{4, 4}, Dims{1, 2, 2, 2}),
            "upsample_backward: expected a gradient of sizes [1, 2, 4, 4], but got [1, 1, 4, 4]");
  EXPECT_EQ(error("aten::embedding_backward", ramp({2, 3}), integers({2}, {0, 1}), 4, -1, false, true),
            "embedding_backward: sparse gradients are not supported");
  EXPECT_EQ(error("aten::native_group_norm_backward", ramp({2, 4}), ramp({2, 4}), ramp({2, 3}), ramp({2, 3}),
                  Value(), 2, 4, 1, 3, std::vector<bool>{true, false, false}),
            "Expected number of channels 4 to be evenly divisible by number of groups 3");
  EXPECT_EQ(error("aten::_ctc_loss", ramp({3, 1, 2}), integers({1, 1}, {1}), Dims{4}, Dims{1}),
            "Expected input_lengths to have value at most the length of log_probs, and none negative");
}

TEST_F(Backward, OfANormNeedsItsStatistics) {
  EXPECT_EQ(error("aten::native_batch_norm_backward", ramp({2, 3}), ramp({2, 3}), Value(), Value(), Value(),
                  ramp({3}), Value(), true, 1e-5, std::vector<bool>{true, true, true}),
            "batch_norm_backward: a mean and a deviation are needed");
}

TEST_F(Backward, IndicesStayInside) {
  EXPECT_EQ(error("aten::embedding_dense_backward", ramp({2, 3}), integers({2}, {0, 4}), 4, -1, false),
            "index 4 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(error("aten::adaptive_max_pool2d_backward", ramp({1, 1, 1}), ramp({1, 2, 2}),
                  integers({1, 1, 1}, {-1})),
            "index -1 is out of bounds for dimension 1 with size 4");
  EXPECT_EQ(error("aten::nll_loss_backward", ramp({1}), ramp({1, 3}), integers({1}, {3}), Value(), 2, -100,
                  ramp({})),
            "Target 3 is out of bounds.");
  EXPECT_EQ(error("aten::multi_margin_loss", ramp({1, 3}), integers({1}, {3})),
            "multi_margin_loss: target 3 is out of range");
  EXPECT_EQ(error("aten::max_unpool3d", ramp({1, 1, 1, 1}), integers({1, 1, 1, 1}, {8}), Dims{2, 2, 2},
                  Dims{2, 2, 2}, Dims{0, 0, 0}),
            "found an invalid max index: 8 (output volumes are of size 8)");
}

TEST_F(Backward, SizesMayBeEnormous) {
  const int64_t most = INT64_MAX;
  EXPECT_EQ(error("aten::native_group_norm_backward", ramp({2, 4}), ramp({2, 4}), ramp({2, 1}), ramp({2, 1}),
                  Value(), most, 4, 1, 1, std::vector<bool>{true, false, false}),
            "a size or an index does not fit in 64 bits");
  EXPECT_EQ(error("aten::select_backward", ramp({2}), Dims{most, most}, 0, 0),
            "a size or an index does not fit in 64 bits");
  EXPECT_EQ(error("aten::avg_pool2d_backward", ramp({1, 1, 1}), ramp({1, 1, 1}), Dims{most / 2, most / 2},
                  Dims{most / 2, most / 2}, Dims{most / 4, most / 4}, true, true, Value()),
            "a size or an index does not fit in 64 bits");
}

TEST_F(Backward, NothingHasNoGradient) {
  EXPECT_EQ(call(context, "aten::embedding_dense_backward", ramp({0, 3}), integers({0}, {}), 2, -1, false)
                .element_count(),
            6);
  expect_values(
      call(context, "aten::embedding_dense_backward", ramp({0, 1}), integers({0}, {}), 2, -1, false), {0, 0});
  EXPECT_EQ(call(context, "aten::_softmax_backward_data", ramp({0, 3}), ramp({0, 3}), 1, DType::kFloat32)
                .element_count(),
            0);
}

}  // namespace
}  // namespace flambeau::ops
