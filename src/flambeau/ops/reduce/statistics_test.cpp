// Histograms, segments, derivatives and covariances: what they refuse, and edges that samples do not reach.
#include <gtest/gtest.h>

#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/engines/elementwise.h"

namespace flambeau::ops {
namespace {

Tensor integers(std::initializer_list<int64_t> values) {
  Tensor made = Tensor::zeros(DType::kInt64, Dims{static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), made.mutable_data<int64_t>());
  return made;
}

struct Statistics : OperatorTest {
  Tensor segments(std::string_view reduce, const KeywordArguments& more) {
    return call_with(context, "aten::segment_reduce", {ramp({6}), reduce}, more);
  }
  std::string refused(std::string_view name, const std::vector<Value>& given, const KeywordArguments& more) {
    try {
      call_with<std::vector<Value>>(context, name, given, more);
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  }
};

TEST_F(Statistics, SegmentsByLengthsAndOffsets) {
  EXPECT_EQ(values_of(segments("sum", {{"lengths", integers({2, 0, 4})}})), (std::vector<float>{1, 0, 14}));
  EXPECT_EQ(values_of(segments("max", {{"offsets", integers({0, 1, 6})}})), (std::vector<float>{0, 5}));
  EXPECT_EQ(values_of(segments("prod", {{"lengths", integers({2, 0, 4})}, {"initial", 2}})),
            (std::vector<float>{0, 2, 240}));
}

TEST_F(Statistics, SegmentsStayWithinTheData) {
  const auto error = [&](const KeywordArguments& more) {
    return refused("aten::segment_reduce", {ramp({6}), "sum"}, more);
  };
  EXPECT_EQ(error({{"lengths", integers({2, -1, 5})}}), "segment_reduce(): lengths contains negative value!");
  EXPECT_EQ(
      error({{"lengths", integers({7})}, {"unsafe", true}}),
      "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
      "!unsafe.");
  EXPECT_EQ(
      error({{"lengths", integers({INT64_MAX, INT64_MAX})}}),
      "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
      "!unsafe.");
  EXPECT_EQ(error({{"offsets", integers({0, 9})}}),
            "segment_reduce(): offset 9 is not between the one before it and 6");
  EXPECT_EQ(error({}), "segment_reduce(): Either lengths or offsets must be defined.");
}

TEST_F(Statistics, HistogramsOfNothingAndOfOneValue) {
  const auto both = [&](const Tensor& x) {
    return call_with<std::vector<Value>>(context, "aten::histogram.bin_ct", {x, 2}, {});
  };
  EXPECT_EQ(values_of(both(Tensor::zeros(DType::kFloat32, Dims{0}))[1].tensor()),
            (std::vector<float>{0, 0.5F, 1}));
  EXPECT_EQ(values_of(both(floats({3}, {4, 4, 4}))[0].tensor()), (std::vector<float>{0, 3}));
  EXPECT_EQ(values_of(both(floats({3}, {4, 4, 4}))[1].tensor()), (std::vector<float>{3.5F, 4, 4.5F}));
  EXPECT_EQ(refused("aten::histogram.bin_ct", {ramp({3}), 0}, {}),
            "torch.histogramdd: bins must be > 0, but got 0");
  EXPECT_EQ(refused("aten::histogram.bin_ct", {floats({2}, {1, NAN}), 2}, {}),
            "torch.histogramdd: dimension 0's range [nan, nan] is not finite");
}

TEST_F(Statistics, DerivativesNeedPoints) {
  EXPECT_EQ(values_of(call<TensorList>(context, "aten::gradient.scalarint", floats({4}, {1, 4, 9, 16}))[0]),
            (std::vector<float>{3, 4, 6, 7}));
  EXPECT_EQ(refused("aten::gradient.scalarint", {ramp({2})}, {{"edge_order", 2}}),
            "torch.gradient expected each dimension size to be at least edge_order+1 = 3");
  EXPECT_EQ(refused("aten::gradient.array", {ramp({3, 3})}, {{"dim", Dims{0, 0}}}),
            "torch.gradient expected each dimension once, but dimension 0 appears twice");
}

TEST_F(Statistics, CovarianceRefusesNegativeWeights) {
  EXPECT_EQ(refused("aten::cov", {ramp({2, 3})}, {{"fweights", integers({1, -1, 2})}}),
            "cov(): fweights cannot be negative");
  EXPECT_EQ(refused("aten::cov", {ramp({2, 3})}, {{"fweights", integers({1, 1})}}),
            "cov(): expected fweights to have the same numel as there are observations in the input "
            "but got 2 != 3");
}

TEST_F(Statistics, MarginLossesCheckTheirTargets) {
  EXPECT_EQ(error("aten::multi_margin_loss", ramp({2, 3}), integers({1, 3})),
            "multi_margin_loss: target 3 is out of range");
  EXPECT_EQ(error("aten::multilabel_margin_loss_forward", ramp({3}), integers({0, 7, -1}), 1),
            "multilabel_margin_loss: argument target is out of range");
}

}  // namespace
}  // namespace flambeau::ops
