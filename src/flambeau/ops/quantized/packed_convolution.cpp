// The operators of quantized convolutions.
#include "flambeau/ops/quantized/packed_convolution.h"

#include <fmt/format.h>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/quantized/in_programs.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {

const PackedConvolution& packed_convolution(const Value& value) {
  const Object* const object = value.get_if<Object>();
  const bool is_spatial = object != nullptr && object->class_name == kConv3dClass;
  return packed_object<PackedConvolution>(value, is_spatial ? kConv3dClass : kConv2dClass);
}

Object make_convolution(Tensor weight, Tensor bias, PackedConvolution::Parameters parameters) {
  const std::string_view name = parameters.dims() == 3 ? kConv3dClass : kConv2dClass;
  return make_object<PackedConvolution>(name, std::move(weight), std::move(bias), std::move(parameters));
}

namespace {

template <bool kRelu>
Tensor convolution(Context& context, const Tensor& input, const Value& packed, double scale,
                   Size zero_point) {
  return convolve(context, input, packed_convolution(packed), scale, zero_point.value(), kRelu);
}
// Numbers that the packed weight has, too, since PyTorch 1.4.
template <bool kRelu>
Tensor old_convolution(Context& context, const Tensor& input, const Value& packed, std::span<const Size>,
                       std::span<const Size>, std::span<const Size>, Size, double scale, Size zero_point) {
  return convolve(context, input, packed_convolution(packed), scale, zero_point.value(), kRelu);
}

// A line is an image of one row.
Tensor with_row(Context& context, const Tensor& line) {
  if (line.dim() != 3) fail_view(fmt::format("lines of channels are expected, not {}", line.summary()));
  return call(context, "aten::unsqueeze", line, 2);
}
template <bool kRelu>
Tensor line_convolution(Context& context, const Tensor& input, const Value& packed, double scale,
                        Size zero_point) {
  return call(context, "aten::squeeze.dim",
              convolve(context, with_row(context, input), packed_convolution(packed), scale,
                       zero_point.value(), kRelu),
              2);
}

template <bool kRelu>
Tensor added_convolution(Context& context, const Tensor& input, const Tensor& other, const Value& packed,
                         double scale, Size zero_point) {
  const Tensor real =
      convolution_in_program(context, packed_convolution(packed), dequantized(context, input));
  Tensor sum = parts::add(context, real, dequantized(context, other));
  if (kRelu) sum = call(context, "aten::relu", sum);
  return quantize(context, sum, input.dtype(), checked_quantizer(scale, zero_point.value(), input.dtype()));
}

Tensor dynamic_convolution(Context& context, const Tensor& input, const Value& packed, bool reduce_range) {
  return convolve_dynamic(context, input, packed_convolution(packed), reduce_range);
}
Tensor dynamic_line_convolution(Context& context, const Tensor& input, const Value& packed,
                                bool reduce_range) {
  return call(context, "aten::squeeze.dim",
              convolve_dynamic(context, with_row(context, input), packed_convolution(packed), reduce_range),
              2);
}

}  // namespace

void define_packed_convolution(Library& library) {
  library
      .define(
          "_quantized::conv2d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weight, float output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<false>>();
  library
      .define(
          "_quantized::conv3d(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weight, float output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<false>>();
  library
      .define(
          "_quantized::conv_transpose2d(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<false>>();
  library
      .define(
          "quantized::conv2d.new(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<false>>();
  library
      .define(
          "quantized::conv3d.new(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<false>>();
  library
      .define(
          "quantized::conv_transpose2d(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<false>>();
  library
      .define(
          "quantized::conv_transpose3d(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<false>>();
  library
      .define(
          "_quantized::conv2d_relu(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<true>>();
  library
      .define(
          "_quantized::conv3d_relu(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<true>>();
  library
      .define(
          "quantized::conv2d_relu.new(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<true>>();
  library
      .define(
          "quantized::conv3d_relu.new(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<convolution<true>>();
  library
      .define(
          "quantized::conv2d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "weight, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, "
          "int output_zero_point) -> Tensor")
      .quantized<old_convolution<false>>();
  library
      .define(
          "quantized::conv3d(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "weight, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, "
          "int output_zero_point) -> Tensor")
      .quantized<old_convolution<false>>();
  library
      .define(
          "quantized::conv2d_relu(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase weight, int[] stride, int[] "
          "padding, int[] dilation, int groups, float output_scale, int output_zero_point) -> "
          "Tensor")
      .quantized<old_convolution<true>>();
  library
      .define(
          "quantized::conv3d_relu(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv3dPackedParamsBase weight, int[] stride, int[] "
          "padding, int[] dilation, int groups, float output_scale, int output_zero_point) -> "
          "Tensor")
      .quantized<old_convolution<true>>();
  library
      .define(
          "_quantized::conv_transpose1d(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<line_convolution<false>>();
  library
      .define(
          "quantized::conv1d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weight, float output_scale, int output_zero_point) -> Tensor")
      .quantized<line_convolution<false>>();
  library
      .define(
          "quantized::conv_transpose1d(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<line_convolution<false>>();
  library
      .define(
          "quantized::conv1d_relu(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<line_convolution<true>>();
  library
      .define(
          "quantized::conv2d_dynamic(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, bool "
          "reduce_range=False) -> Tensor")
      .function<dynamic_convolution>();
  library
      .define(
          "quantized::conv3d_dynamic(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, bool "
          "reduce_range=False) -> Tensor")
      .function<dynamic_convolution>();
  library
      .define(
          "quantized::conv_transpose2d_dynamic(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, bool "
          "reduce_range=False) -> Tensor")
      .function<dynamic_convolution>();
  library
      .define(
          "quantized::conv_transpose3d_dynamic(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, bool "
          "reduce_range=False) -> Tensor")
      .function<dynamic_convolution>();
  library
      .define(
          "quantized::conv1d_dynamic(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, bool "
          "reduce_range=False) -> Tensor")
      .function<dynamic_line_convolution>();
  library
      .define(
          "quantized::conv_transpose1d_dynamic(Tensor qx, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, bool "
          "reduce_range=False) -> Tensor")
      .function<dynamic_line_convolution>();
  library
      .define(
          "quantized::conv2d_add(Tensor qx, Tensor qaccum, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<added_convolution<false>>();
  library
      .define(
          "quantized::conv2d_add_relu(Tensor qx, Tensor qaccum, "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<added_convolution<true>>();
}

}  // namespace flambeau::ops
