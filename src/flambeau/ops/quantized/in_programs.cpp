#include "flambeau/ops/quantized/in_programs.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

Value optional_tensor(const Tensor& tensor) { return tensor.defined() ? Value(tensor) : Value(); }

Tensor channel_points(const Quantizer& quantizer) {
  if (quantizer.scheme == Quantizer::Scheme::kPerChannelAffine) return quantizer.zero_points;
  throw Error(ErrorCode::kUnsupported,
              "a tensor is quantized with zero points that are no integers, which a program cannot say",
              "dequantize it before it is used");
}

// The weight's integers are the program's where there is one, beside what is computed with them.
Tensor weight_beside(Context& context, const Tensor& weight, const Tensor& real) {
  return lacks_elements(real) ? dequantized_in_program(context, weight) : dequantized(context, weight);
}

}  // namespace

Tensor quantized_in_program(Context& context, const Tensor& real, DType dtype, const Quantizer& quantizer) {
  const IntegerRange range = integer_range(dtype);
  const DType integer = integer_dtype(dtype);
  const Tensor integers =
      quantizer.is_per_channel()
          ? call(context, "quantized_decomposed::quantize_per_channel", real, quantizer.scales,
                 channel_points(quantizer), quantizer.axis, range.least, range.most, integer)
          : call(context, "quantized_decomposed::quantize_per_tensor", real, quantizer.scale,
                 quantizer.zero_point, range.least, range.most, integer);
  return quantized_over(integers, dtype, quantizer);
}

Tensor dequantized_in_program(Context& context, const Tensor& quantized) {
  const Quantizer& quantizer = quantizer_of(quantized);
  const IntegerRange range = integer_range(quantized.dtype());
  const Tensor integers = integers_of(quantized);
  if (quantizer.is_per_channel()) {
    return call(context, "quantized_decomposed::dequantize_per_channel", integers, quantizer.scales,
                channel_points(quantizer), quantizer.axis, range.least, range.most, integers.dtype());
  }
  return call(context, "quantized_decomposed::dequantize_per_tensor", integers, quantizer.scale,
              quantizer.zero_point, range.least, range.most, integers.dtype());
}

ChosenScale chosen_in_program(Context& context, const Tensor& real, bool reduce_range) {
  constexpr double kSmallest = 6.1e-5;
  const int64_t most = reduce_range ? 127 : 255;
  const auto chosen = call<std::vector<Value>>(context, "quantized_decomposed::choose_qparams.tensor", real,
                                               0, most, kSmallest, DType::kUInt8);
  return {chosen.at(0).tensor(), chosen.at(1).tensor(), most};
}

Tensor rounded_in_program(Context& context, const Tensor& real, const ChosenScale& chosen) {
  const Tensor integers = call(context, "quantized_decomposed::quantize_per_tensor.tensor", real,
                               chosen.scale, chosen.zero_point, 0, chosen.most, DType::kUInt8);
  return call(context, "quantized_decomposed::dequantize_per_tensor.tensor", integers, chosen.scale,
              chosen.zero_point, 0, chosen.most, DType::kUInt8);
}

Tensor linear_in_program(Context& context, const PackedLinear& linear, const Tensor& real) {
  const Tensor weight = linear.is_half ? linear.weight : weight_beside(context, linear.weight, real);
  return call(context, "aten::linear", real, weight, optional_tensor(linear.bias));
}

Tensor convolution_in_program(Context& context, const PackedConvolution& convolution, const Tensor& real) {
  const PackedConvolution::Parameters& p = convolution.parameters;
  const Tensor weight = weight_beside(context, convolution.weight, real);
  const Value bias = optional_tensor(convolution.bias);
  if (p.is_transposed) {
    return call(context, p.dims() == 3 ? "aten::conv_transpose3d.input" : "aten::conv_transpose2d.input",
                real, weight, bias, p.stride, p.padding, p.output_padding, p.groups, p.dilation);
  }
  return call(context, p.dims() == 3 ? "aten::conv3d" : "aten::conv2d", real, weight, bias, p.stride,
              p.padding, p.dilation, p.groups);
}

}  // namespace flambeau::ops
