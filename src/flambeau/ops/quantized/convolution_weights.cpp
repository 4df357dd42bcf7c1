// Packing the weights of quantized convolutions, and what packed ones tell.
#include <fmt/format.h>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/quantized/packed_convolution.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using Parameters = PackedConvolution::Parameters;

Tensor bias_or_none(const Tensor* bias) { return bias == nullptr ? Tensor() : *bias; }

template <size_t kDims>
Object prepack_with(const Tensor& weight, const Tensor* bias, Parameters parameters) {
  if (parameters.dims() != kDims)
    fail_view(fmt::format("{} strides are given for {} dimensions", parameters.dims(), kDims));
  return make_convolution(weight, bias_or_none(bias), std::move(parameters));
}
template <size_t kDims>
Object prepack(const Tensor& weight, const Tensor* bias, std::span<const Size> stride,
               std::span<const Size> padding, std::span<const Size> dilation, Size groups) {
  return prepack_with<kDims>(weight, bias,
                             {.stride = Dims(plain(stride)),
                              .padding = Dims(plain(padding)),
                              .output_padding = Dims(kDims, 0),
                              .dilation = Dims(plain(dilation)),
                              .groups = groups.value()});
}
template <size_t kDims>
Object prepack_transposed(const Tensor& weight, const Tensor* bias, std::span<const Size> stride,
                          std::span<const Size> padding, std::span<const Size> output_padding,
                          std::span<const Size> dilation, Size groups) {
  return prepack_with<kDims>(weight, bias,
                             {.stride = Dims(plain(stride)),
                              .padding = Dims(plain(padding)),
                              .output_padding = Dims(plain(output_padding)),
                              .dilation = Dims(plain(dilation)),
                              .groups = groups.value(),
                              .is_transposed = true});
}

// The numbers of a line as those of an image with one row.
ShortList<Size> in_row(std::span<const Size> numbers, int64_t first) {
  ShortList<Size> all;
  all.push_back(first);
  for (const Size& number : numbers) all.push_back(number);
  return all;
}
Tensor weight_with_row(Context& context, const Tensor& weight) {
  if (weight.dim() != 3)
    fail_view(fmt::format("the weight has 3 dimensions, not those of {}", weight.summary()));
  return call(context, "aten::unsqueeze", weight, 2);
}
Object prepack_line(Context& context, const Tensor& weight, const Tensor* bias, std::span<const Size> stride,
                    std::span<const Size> padding, std::span<const Size> dilation, Size groups) {
  return prepack<2>(weight_with_row(context, weight), bias, in_row(stride, 1), in_row(padding, 0),
                    in_row(dilation, 1), groups);
}
Object prepack_transposed_line(Context& context, const Tensor& weight, const Tensor* bias,
                               std::span<const Size> stride, std::span<const Size> padding,
                               std::span<const Size> output_padding, std::span<const Size> dilation,
                               Size groups) {
  return prepack_transposed<2>(weight_with_row(context, weight), bias, in_row(stride, 1), in_row(padding, 0),
                               in_row(output_padding, 0), in_row(dilation, 1), groups);
}

std::tuple<Tensor, Value> unpack(const Value& packed) {
  const PackedConvolution& given = packed_convolution(packed);
  return {given.weight, given.bias.defined() ? Value(given.bias) : Value()};
}
std::tuple<Tensor, Value> unpack_line(Context& context, const Value& packed) {
  const auto [weight, bias] = unpack(packed);
  return {call(context, "aten::squeeze.dim", weight, 2), bias};
}

Dims stride_of(const Value& packed) { return packed_convolution(packed).parameters.stride; }
Dims padding_of(const Value& packed) { return packed_convolution(packed).parameters.padding; }
Dims output_padding_of(const Value& packed) { return packed_convolution(packed).parameters.output_padding; }
Dims dilation_of(const Value& packed) { return packed_convolution(packed).parameters.dilation; }
int64_t groups_of(const Value& packed) { return packed_convolution(packed).parameters.groups; }
int64_t transpose_of(const Value& packed) {
  return packed_convolution(packed).parameters.is_transposed ? 1 : 0;
}

// As scripts call them.
template <auto kFunction>
Value of_object(const Object& object, std::span<const Value> /*arguments*/) {
  return kFunction(Value(object));
}
Value scripted_weight(const Value& packed) { return packed_convolution(packed).weight; }
Value scripted_bias(const Value& packed) { return std::get<1>(unpack(packed)); }
Value scripted_parts(const Value& packed) {
  return ValueList{scripted_weight(packed), scripted_bias(packed)};
}
bool scripted_transpose(const Value& packed) { return transpose_of(packed) != 0; }

template <int kDim>
ObjectClass convolution_class() {
  return {
      .name = std::string(kDim == 2 ? kConv2dClass : kConv3dClass),
      .state_type = "Tuple[str, List[Tensor], List[Optional[Tensor]]]",
      .from_state = convolution_from_state,
      .state = convolution_state,
      .methods = {{.name = "weight", .result = "Tensor", .function = of_object<scripted_weight>},
                  {.name = "bias", .result = "Optional[Tensor]", .function = of_object<scripted_bias>},
                  {.name = "unpack",
                   .result = "Tuple[Tensor, Optional[Tensor]]",
                   .function = of_object<scripted_parts>},
                  {.name = "stride", .result = "List[int]", .function = of_object<stride_of>},
                  {.name = "padding", .result = "List[int]", .function = of_object<padding_of>},
                  {.name = "output_padding", .result = "List[int]", .function = of_object<output_padding_of>},
                  {.name = "dilation", .result = "List[int]", .function = of_object<dilation_of>},
                  {.name = "groups", .result = "int", .function = of_object<groups_of>},
                  {.name = "transpose", .result = "bool", .function = of_object<scripted_transpose>}}};
}

}  // namespace

void define_convolution_weights(Library& library) {
  library.define_class(kConv2dClass, convolution_class<2>);
  library.define_class(kConv3dClass, convolution_class<3>);
  library
      .define(
          "_quantized::conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
          "int[] dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase")
      .quantized<prepack<2>>();
  library
      .define(
          "quantized::conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
          "int[] dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase")
      .quantized<prepack<2>>();
  library
      .define(
          "quantized::conv_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
          "dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase")
      .quantized<prepack<2>>();
  library
      .define(
          "_quantized::conv3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
          "int[] dilation, int groups) -> __torch__.torch.classes.quantized.Conv3dPackedParamsBase")
      .quantized<prepack<3>>();
  library
      .define(
          "quantized::conv3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
          "int[] dilation, int groups) -> __torch__.torch.classes.quantized.Conv3dPackedParamsBase")
      .quantized<prepack<3>>();
  library
      .define(
          "quantized::conv1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
          "int[] dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase")
      .quantized<prepack_line>();
  library
      .define(
          "_quantized::conv_transpose2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] "
          "padding, int[] output_padding, int[] dilation, int groups) -> "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase")
      .quantized<prepack_transposed<2>>();
  library
      .define(
          "quantized::conv_transpose2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] "
          "padding, int[] output_padding, int[] dilation, int groups) -> "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase")
      .quantized<prepack_transposed<2>>();
  library
      .define(
          "_quantized::conv_transpose3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] "
          "padding, int[] output_padding, int[] dilation, int groups) -> "
          "__torch__.torch.classes.quantized.Conv3dPackedParamsBase")
      .quantized<prepack_transposed<3>>();
  library
      .define(
          "quantized::conv_transpose3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] "
          "padding, int[] output_padding, int[] dilation, int groups) -> "
          "__torch__.torch.classes.quantized.Conv3dPackedParamsBase")
      .quantized<prepack_transposed<3>>();
  library
      .define(
          "_quantized::conv_transpose1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] "
          "padding, int[] output_padding, int[] dilation, int groups) -> "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase")
      .quantized<prepack_transposed_line>();
  library
      .define(
          "quantized::conv_transpose1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] "
          "padding, int[] output_padding, int[] dilation, int groups) -> "
          "__torch__.torch.classes.quantized.Conv2dPackedParamsBase")
      .quantized<prepack_transposed_line>();
  library
      .define(
          "quantized::conv2d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)")
      .function<unpack>();
  library
      .define(
          "quantized::conv3d_unpack(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)")
      .function<unpack>();
  library
      .define(
          ""
          "quantized::conv_transpose2d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)")
      .function<unpack>();
  library
      .define(
          ""
          "quantized::conv_transpose3d_unpack(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)")
      .function<unpack>();
  library
      .define(
          "quantized::conv_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)")
      .function<unpack>();
  library
      .define(
          "quantized::conv1d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)")
      .function<unpack_line>();
  library
      .define(
          ""
          "quantized::conv_transpose1d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)")
      .function<unpack_line>();
  library
      .define(
          "quantized::conv2d_stride(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<stride_of>();
  library
      .define(
          "quantized::conv3d_stride(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<stride_of>();
  library
      .define(
          ""
          "quantized::conv_transpose2d_stride(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<stride_of>();
  library
      .define(
          ""
          "quantized::conv_transpose3d_stride(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<stride_of>();
  library
      .define(
          "quantized::conv2d_padding(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<padding_of>();
  library
      .define(
          "quantized::conv3d_padding(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<padding_of>();
  library
      .define(
          ""
          "quantized::conv_transpose2d_padding(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<padding_of>();
  library
      .define(
          ""
          "quantized::conv_transpose3d_padding(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<padding_of>();
  library
      .define(
          ""
          "quantized::conv2d_output_padding(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<output_padding_of>();
  library
      .define(
          ""
          "quantized::conv3d_output_padding(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<output_padding_of>();
  library
      .define(
          ""
          "quantized::conv_transpose2d_output_padding(__torch__.torch.classes.quantized."
          "Conv2dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<output_padding_of>();
  library
      .define(
          ""
          "quantized::conv_transpose3d_output_padding(__torch__.torch.classes.quantized."
          "Conv3dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<output_padding_of>();
  library
      .define(
          "quantized::conv2d_dilation(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<dilation_of>();
  library
      .define(
          "quantized::conv3d_dilation(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<dilation_of>();
  library
      .define(
          ""
          "quantized::conv_transpose2d_dilation(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<dilation_of>();
  library
      .define(
          ""
          "quantized::conv_transpose3d_dilation(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int[]")
      .function<dilation_of>();
  library
      .define(
          "quantized::conv2d_groups(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int")
      .function<groups_of>();
  library
      .define(
          "quantized::conv3d_groups(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int")
      .function<groups_of>();
  library
      .define(
          ""
          "quantized::conv_transpose2d_groups(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int")
      .function<groups_of>();
  library
      .define(
          ""
          "quantized::conv_transpose3d_groups(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int")
      .function<groups_of>();
  library
      .define(
          "quantized::conv2d_transpose(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int")
      .function<transpose_of>();
  library
      .define(
          "quantized::conv3d_transpose(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int")
      .function<transpose_of>();
  library
      .define(
          ""
          "quantized::conv_transpose2d_transpose(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
          "packed_weights) -> int")
      .function<transpose_of>();
  library
      .define(
          ""
          "quantized::conv_transpose3d_transpose(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
          "packed_weights) -> int")
      .function<transpose_of>();
}

}  // namespace flambeau::ops
