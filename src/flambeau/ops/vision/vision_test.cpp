// Values are torchvision 0.28's (tests/golden/vision).
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "flambeau/archive/json/json.h"
#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::ops {
namespace {

using Vision = OperatorTest;

double golden_number(const json::Value& value) {
  return value.is_string()    ? std::nan("")
         : value.is_integer() ? static_cast<double>(value.as_int())
                              : value.as_double();
}

Value golden_value(Context& context, const json::Value& said) {
  if (said.is_bool()) return said.as_bool();
  if (said.is_integer()) return said.as_int();
  if (said.is_double()) return said.as_double();
  Dims sizes;
  for (const json::Value& size : said.find("sizes")->as_array()) sizes.push_back(size.as_int());
  const Tensor wide = Tensor::zeros(DType::kFloat64, sizes);
  const json::Array& values = said.find("values")->as_array();
  for (size_t i = 0; i < values.size(); ++i) wide.mutable_data<double>()[i] = golden_number(values[i]);
  return call(context, "aten::to.dtype", wide, *dtype_from_name(said.find("type")->as_string()));
}

TEST_F(Vision, GivesWhatTorchvisionGives) {
  std::ifstream file(FLAMBEAU_GOLDEN_DIR "/vision/cases.json");
  std::stringstream text;
  text << file.rdbuf();
  const json::Value cases = json::parse(text.str());
  ASSERT_EQ(cases.as_array().size(), 32U);
  size_t number = 0;
  for (const json::Value& test : cases.as_array()) {
    const std::string& name = test.find("operator")->as_string();
    SCOPED_TRACE(name + ", case " + std::to_string(number++));
    std::vector<Value> arguments;
    for (const json::Value& argument : test.find("arguments")->as_array())
      arguments.push_back(golden_value(context, argument));
    const std::vector<Value> results = call_named(context, name, arguments);
    const json::Array& expected = test.find("results")->as_array();
    ASSERT_EQ(results.size(), expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor theirs = golden_value(context, expected[i]).tensor();
      const Tensor& ours = results[i].tensor();
      ASSERT_EQ(ours.sizes(), theirs.sizes());
      ASSERT_EQ(ours.dtype(), theirs.dtype());
      const double tolerance = ours.dtype() == DType::kFloat64   ? 1e-12
                               : ours.dtype() == DType::kFloat16 ? 1e-2
                                                                 : 1e-5;
      const auto a = values_of<double>(call(context, "aten::to.dtype", ours, DType::kFloat64));
      const auto b = values_of<double>(call(context, "aten::to.dtype", theirs, DType::kFloat64));
      for (size_t j = 0; j < a.size(); ++j) {
        if (std::isnan(b[j])) {
          EXPECT_TRUE(std::isnan(a[j])) << j;
        } else {
          EXPECT_NEAR(a[j], b[j], tolerance * std::max(1.0, std::abs(b[j]))) << j;
        }
      }
    }
  }
}

TEST_F(Vision, RefusesRegionsThatAreNowhere) {
  const Tensor x = ramp({2, 4, 3, 3});
  const auto error_for = [&](std::vector<float> region) {
    return error("torchvision::roi_align", x, floats({1, 5}, region), 1.0, 2, 2, 2, false);
  };
  EXPECT_EQ(error_for({-1, 0, 0, 2, 2}), "region 0 lies in image -1, but the input has 2");
  EXPECT_EQ(error_for({2, 0, 0, 2, 2}), "region 0 lies in image 2, but the input has 2");
  EXPECT_EQ(error_for({std::nanf(""), 0, 0, 2, 2}), "region 0 lies in image nan, but the input has 2");
  EXPECT_EQ(error_for({0, 0, std::nanf(""), 2, 2}),
            "region 0 has the box (0, nan, 2, 2): expected numbers below 2^50");
  EXPECT_EQ(error("torchvision::roi_pool", x, floats({1, 5}, {3, 0, 0, 2, 2}), 1.0, 2, 2),
            "region 0 lies in image 3, but the input has 2");
  EXPECT_EQ(error("torchvision::ps_roi_pool", x, floats({1, 5}, {3, 0, 0, 2, 2}), 1.0, 2, 2),
            "region 0 lies in image 3, but the input has 2");
  EXPECT_EQ(error("torchvision::ps_roi_align", x, floats({1, 5}, {0, 0, 0, 2, 2}), 1.0, 3, 2, 1),
            "input channels must be a multiple of pooling height * pooling width");
  EXPECT_EQ(error("torchvision::ps_roi_align", x, floats({1, 5}, {0, 0, 0, 2, 2}), 1.0, 0, 2, 1),
            "pooled sizes must be positive");
  EXPECT_EQ(error("torchvision::roi_align", x, floats({1, 4}, {0, 0, 0, 2}), 1.0, 2, 2, 2, false),
            "rois must have shape as Tensor[K, 5]");
}

// A box may be wider than anything that could be counted through.
TEST_F(Vision, HugeRegionsEnd) {
  const Tensor x = ramp({1, 1, 3, 3});
  const Tensor rois = floats({2, 5}, {0, -1e12F, -1e12F, 1e12F, 1e12F, 0, 1e15F, 0, -1e15F, 2});
  EXPECT_EQ(call(context, "torchvision::roi_align", x, rois, 1.0, 2, 2, -1, false).element_count(), 8);
  EXPECT_EQ(call(context, "torchvision::roi_align", x, rois, 1.0, 2, 2, 100000, true).element_count(), 8);
  const auto pooled = call<std::vector<Value>>(context, "torchvision::roi_pool", x, rois, 1.0, 1, 1);
  EXPECT_EQ(values_of(pooled[0].tensor())[0], 8);
  EXPECT_EQ(error("torchvision::roi_align", x, floats({1, 5}, {0, 0, 0, 1e30F, 1}), 1.0, 2, 2, -1, false),
            "region 0 has the box (0, 0, 1.0000000150474662e+30, 1): expected numbers below 2^50");
}

TEST_F(Vision, ConvolutionsSayWhatDoesNotFit) {
  const Tensor x = ramp({1, 2, 4, 4}), weight = ramp({2, 2, 3, 3}), offset = ramp({1, 18, 2, 2}, 0);
  const Tensor mask = ramp({1, 9, 2, 2}, 0, 1), bias = ramp({2});
  const auto error_for = [&](const Tensor& w, const Tensor& o, int64_t stride, int64_t groups) {
    return error("torchvision::deform_conv2d", x, w, o, mask, bias, stride, 1, 0, 0, 1, 1, groups, 1, true);
  };
  EXPECT_EQ(error_for(weight, offset, 1, 1), "no error");
  EXPECT_EQ(error_for(weight, offset, 0, 1), "stride must be positive");
  EXPECT_EQ(error_for(weight, offset, 1, 0), "groups must be positive");
  EXPECT_EQ(error_for(weight, ramp({1, 17, 2, 2}), 1, 1),
            "offset.shape[1] is not valid: expected two for each tap");
  EXPECT_EQ(error_for(weight, ramp({1, 18, 2, 1}), 1, 1),
            "offset output dims are not the computed output dims");
  EXPECT_EQ(error_for(ramp({2, 2, 5, 5}), offset, 1, 1),
            "offset.shape[1] is not valid: expected two for each tap");
  EXPECT_NE(error_for(weight, offset, std::numeric_limits<int64_t>::max(), 1), "no error");
  // Offsets that lead nowhere read nothing.
  const Tensor far = ramp({1, 18, 2, 2}, 0, std::numeric_limits<float>::infinity());
  expect_values(
      call(context, "torchvision::deform_conv2d", x, weight, far, mask, bias, 1, 1, 0, 0, 1, 1, 1, 1, true),
      {0, 0, 0, 0, 1, 1, 1, 1});
}

TEST_F(Vision, BoxesAreChecked) {
  EXPECT_EQ(error("torchvision::nms", ramp({4}), ramp({4}), 0.5), "boxes should be a 2d tensor, got 1D");
  EXPECT_EQ(error("torchvision::nms", ramp({2, 5}), ramp({2}), 0.5),
            "boxes should have 4 elements in dimension 1");
  EXPECT_EQ(error("torchvision::nms", ramp({2, 4}), ramp({3}), 0.5),
            "boxes and scores should have same number of elements in dimension 0");
  const float nan = std::nanf("");
  EXPECT_EQ(values_of<int64_t>(call(context, "torchvision::nms",
                                    floats({3, 4}, {0, 0, 1, 1, 0, 0, 1, 1, nan, 0, 1, 1}),
                                    floats({3}, {nan, 1, 2}), 0.5)),
            (std::vector<int64_t>{0, 2}));
}

TEST_F(Vision, NmsSaysThatDataDecides) {
  struct Most final : DataNumbers {
    SymInt size(const std::optional<SymInt>& most) override { return most.value_or(SymInt(-1)); }
    bool is_from_data(const SymInt&) const override { return false; }
    bool is_within(const SymInt&, const SymInt&) const override { return false; }
  } data;
  const Operator& op = library.get("torchvision::nms");
  const std::vector<Value> arguments = {ramp({3, 4}), ramp({3}), 0.5};
  EXPECT_EQ(op.facts().data_shape(arguments, data)->sizes[0].literal(), 3);
}

}  // namespace
}  // namespace flambeau::ops
