// Values are PyTorch 2.13's.
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/quantized/packed.h"

namespace flambeau::ops {
namespace {

struct Quantized : OperatorTest {
  Tensor by_tensor(const Tensor& real, DType dtype = DType::kQUInt8) {
    return call(context, "aten::quantize_per_tensor", real, 0.5, 10, dtype);
  }
  // A scale for each of four indices of the second dimension: 1, 2, 3, 4.
  Tensor by_channel(const Tensor& real) {
    const Tensor points = call(context, "aten::zeros", Dims{4}, DType::kInt64);
    return call(context, "aten::quantize_per_channel", real, floats({4}, {1, 2, 3, 4}), points, 1,
                DType::kQInt8);
  }
  std::vector<double> scales(const Tensor& tensor) {
    return values_of<double>(call(context, "aten::q_per_channel_scales", tensor));
  }
};

TEST_F(Quantized, RoundsToEvenBehindTheZeroPoint) {
  const Tensor x = floats({6}, {-6, 0, 0.25, 0.75, 100, 1000});
  EXPECT_EQ(values_of<uint8_t>(call(context, "aten::int_repr", by_tensor(x))),
            (std::vector<uint8_t>{0, 10, 10, 12, 210, 255}));
  expect_values(call(context, "aten::dequantize.self", by_tensor(x)), {-5, 0, 0, 1, 100, 122.5});
}

TEST_F(Quantized, ViewsKeepTheScalesOfTheirChannels) {
  const Tensor x = by_channel(ramp({2, 4, 3}));
  const Tensor part = call(context, "aten::slice.Tensor", x, 1, 1, 4, 2);
  EXPECT_EQ(scales(part), (std::vector<double>{2, 4}));
  EXPECT_EQ(call<int64_t>(context, "aten::q_per_channel_axis", part), 1);
  const Tensor one = call(context, "aten::select.int", x, 0, 1);
  EXPECT_EQ(call<int64_t>(context, "aten::q_per_channel_axis", one), 0);
  const Tensor channel = call(context, "aten::select.int", x, 1, 2);
  EXPECT_EQ(call<double>(context, "aten::q_scale", channel), 3);
  EXPECT_EQ(call<int64_t>(context, "aten::q_per_channel_axis", call(context, "aten::unsqueeze", x, 0)), 2);
  EXPECT_NE(error_of("aten::view", x, Dims{8, 3}).find("would mix channels"), std::string::npos);
  EXPECT_NE(error_of("aten::flip", x, Dims{0}).find("is not quantized per tensor"), std::string::npos);
}

TEST_F(Quantized, OperatorsThatKnowNothingOfScalesRefuseThem) {
  const Tensor x = by_tensor(ramp({3}));
  for (const char* const name : {"aten::neg", "aten::exp", "aten::sum", "aten::nonzero"}) {
    EXPECT_NE(error_of(name, x).find("the operator takes no quantized tensors, quint8[3] is given"),
              std::string::npos)
        << name;
  }
  EXPECT_NE(error_of("aten::_to_copy", x, DType::kFloat32).find("cannot be converted"), std::string::npos);
}

TEST_F(Quantized, RefusesScalesThatAreNone) {
  const Tensor x = ramp({3});
  EXPECT_NE(error_of("aten::quantize_per_tensor", x, 0.0, 0, DType::kQInt8).find("no positive number"),
            std::string::npos);
  EXPECT_NE(error_of("aten::quantize_per_tensor", x, 0.1, 300, DType::kQUInt8).find("outside of quint8"),
            std::string::npos);
  EXPECT_NE(
      error_of("aten::quantize_per_tensor", x, 0.1, 0, DType::kInt8).find("a quantized type is expected"),
      std::string::npos);
  EXPECT_NE(error_of("aten::q_scale", x).find("a quantized tensor is expected, not float32[3]"),
            std::string::npos);
}

TEST_F(Quantized, PackedObjectsComeBackFromTheirState) {
  const Tensor weight = call(context, "aten::quantize_per_tensor", ramp({2, 3}), 0.5, 0, DType::kQInt8);
  const auto packed =
      call<std::vector<Value>>(context, "quantized::linear_prepack", weight, floats({2}, {1, 2})).at(0);
  const ObjectClass* const made = library.find_class(kLinearClass);
  ASSERT_NE(made, nullptr);
  const Value again = made->from_state(made->state(packed.get<Object>()));
  const Tensor x = by_tensor(ramp({1, 3}));
  const auto run = [&](const Value& by) {
    return values_of<uint8_t>(
        call(context, "aten::int_repr", call(context, "quantized::linear", x, by, 0.5, 3)));
  };
  EXPECT_EQ(run(packed), (std::vector<uint8_t>{15, 35}));
  EXPECT_EQ(run(again), run(packed));
  EXPECT_THROW(made->from_state(Value(3)), Error);
  EXPECT_NE(error_of("quantized::linear", x, 3, 0.5, 3)
                .find("an object of __torch__.torch.classes.quantized.Linear"),
            std::string::npos);
}

TEST_F(Quantized, ConvolutionsRefuseHostileNumbers) {
  const Tensor weight = call(context, "aten::quantize_per_tensor", ramp({2, 1, 3, 3}), 0.5, 0, DType::kQInt8);
  const auto prepack = [&](const Dims& stride, const Dims& padding, int64_t groups) {
    return error_of("quantized::conv2d_prepack", weight, Value(), stride, padding, Dims{1, 1}, groups);
  };
  EXPECT_NE(prepack({0, 1}, {0, 0}, 1).find("the stride [0, 1] is none of 2 dimensions"), std::string::npos);
  EXPECT_NE(prepack({1, 1}, {-1, 0}, 1).find("the padding [-1, 0]"), std::string::npos);
  EXPECT_NE(prepack({1, 1}, {int64_t{1} << 40, 0}, 1).find("the padding"), std::string::npos);
  EXPECT_NE(prepack({1, 1}, {0, 0}, 3).find("cannot be divided into 3 groups"), std::string::npos);
  const Value packed = call<std::vector<Value>>(context, "quantized::conv2d_prepack", weight, Value(),
                                                Dims{1, 1}, Dims{0, 0}, Dims{1, 1}, 1)
                           .at(0);
  EXPECT_NE(error_of("quantized::conv2d.new", by_tensor(ramp({1, 1, 2, 2})), packed, 0.5, 0)
                .find("is larger than the padded input"),
            std::string::npos);
}

}  // namespace
}  // namespace flambeau::ops
