// Layers of quantized tensors that are computed with real numbers between them: normalizations and pools.
#include <fmt/format.h>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/quantized/numbers.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

Tensor back(Context& context, const Tensor& real, const Tensor& like, double scale, Size zero_point) {
  return quantize(context, real, like.dtype(), checked_quantizer(scale, zero_point.value(), like.dtype()));
}

template <bool kRelu, size_t kRank>
Tensor batch_norm(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                  const Tensor& mean, const Tensor& variance, double eps, double scale, Size zero_point) {
  if (kRank != 0 && input.dim() != kRank && !(kRank == 3 && input.dim() == 2))
    fail_view(fmt::format("a tensor of {} dimensions is expected, not {}", kRank, input.summary()));
  per_tensor(input);
  constexpr double kNoMomentum = 0;
  Tensor real = call(context, "aten::batch_norm", dequantized(context, input), weight, bias, mean, variance,
                     false, kNoMomentum, eps, false);
  if (kRelu) real = call(context, "aten::relu", real);
  // Images come with their channels last, however they were given.
  if (real.dim() == 4 || real.dim() == 5) {
    const MemoryFormat format = real.dim() == 4 ? MemoryFormat::kChannelsLast : MemoryFormat::kChannelsLast3d;
    real = call_with(context, "aten::contiguous", {real}, {{"memory_format", format}});
  }
  return back(context, real, input, scale, zero_point);
}

Tensor layer_norm(Context& context, const Tensor& input, std::span<const Size> shape, const Tensor* weight,
                  const Tensor* bias, double eps, double scale, Size zero_point) {
  per_tensor(input);
  return back(context,
              call(context, "aten::layer_norm", dequantized(context, input), shape, weight, bias, eps), input,
              scale, zero_point);
}
Tensor group_norm(Context& context, const Tensor& input, Size groups, const Tensor* weight,
                  const Tensor* bias, double eps, double scale, Size zero_point) {
  per_tensor(input);
  return back(context,
              call(context, "aten::group_norm", dequantized(context, input), groups, weight, bias, eps),
              input, scale, zero_point);
}
// Each channel is a group.
Tensor instance_norm(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                     double eps, double scale, Size zero_point) {
  if (input.dim() < 3) fail_view(fmt::format("images with channels are expected, not {}", input.summary()));
  if (lacks_elements(input)) {
    const Tensor real = call(context, "aten::instance_norm", dequantized(context, input), weight, bias,
                             Value(), Value(), true, 0.0, eps, false);
    return back(context, real, input, scale, zero_point);
  }
  return group_norm(context, input, input.sizes()[1], weight, bias, eps, scale, zero_point);
}

// The largest real number has the largest integer. Those around the image are none.
template <size_t kDims>
Tensor max_pool(Context& context, const Tensor& input, std::span<const Size> kernel,
                std::span<const Size> stride, std::span<const Size> padding, std::span<const Size> dilation,
                bool ceil_mode) {
  constexpr std::string_view kName = kDims == 1   ? "aten::max_pool1d"
                                     : kDims == 2 ? "aten::max_pool2d"
                                                  : "aten::max_pool3d";
  const Quantizer& quantizer = per_tensor(input);
  const Tensor real = parts::to_dtype(context, integers_of(input), DType::kFloat32);
  const Tensor pooled = call(context, kName, real, kernel, stride, padding, dilation, ceil_mode);
  return quantized_over(parts::to_dtype(context, pooled, integer_dtype(input.dtype())), input.dtype(),
                        quantizer);
}

}  // namespace

void define_layers(Library& library) {
#define FLAMBEAU_BATCH_NORM(name, relu, rank)                                                        \
  library                                                                                            \
      .define("quantized::" name                                                                     \
              "(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float " \
              "output_scale, int output_zero_point) -> Tensor")                                      \
      .quantized<batch_norm<relu, rank>>()
  FLAMBEAU_BATCH_NORM("batch_norm", false, 0);
  FLAMBEAU_BATCH_NORM("batch_norm_relu", true, 0);
  FLAMBEAU_BATCH_NORM("batch_norm1d", false, 3);
  FLAMBEAU_BATCH_NORM("batch_norm1d_relu", true, 3);
  FLAMBEAU_BATCH_NORM("batch_norm2d", false, 4);
  FLAMBEAU_BATCH_NORM("batch_norm2d_relu", true, 4);
  FLAMBEAU_BATCH_NORM("batch_norm3d", false, 5);
  FLAMBEAU_BATCH_NORM("batch_norm3d_relu", true, 5);
#undef FLAMBEAU_BATCH_NORM
  library
      .define(
          "aten::quantized_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, "
          "float eps, float output_scale, int output_zero_point) -> Tensor")
      .quantized<batch_norm<false, 0>>();
  library
      .define(
          "quantized::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float "
          "eps, float output_scale, int output_zero_point) -> Tensor")
      .quantized<layer_norm>();
  library
      .define(
          "quantized::group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps, "
          "float output_scale, int output_zero_point) -> Tensor")
      .quantized<group_norm>();
  library
      .define(
          "quantized::instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps, float "
          "output_scale, int output_zero_point) -> Tensor")
      .quantized<instance_norm>();
  library
      .define(
          "quantized::max_pool1d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "
          "bool ceil_mode) -> Tensor")
      .quantized<max_pool<1>>();
  library
      .define(
          "quantized::max_pool2d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "
          "bool ceil_mode) -> Tensor")
      .quantized<max_pool<2>>();
  library
      .define(
          "aten::quantized_max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
          "int[1] dilation=[1], bool ceil_mode=False) -> Tensor")
      .quantized<max_pool<1>>();
  library
      .define(
          "aten::quantized_max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
          "int[2] dilation=1, bool ceil_mode=False) -> Tensor")
      .quantized<max_pool<2>>();
  library
      .define(
          "aten::quantized_max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
          "int[3] dilation=1, bool ceil_mode=False) -> Tensor")
      .quantized<max_pool<3>>();
  library.extend("aten::max_pool1d").quantized<max_pool<1>>();
  library.extend("aten::max_pool2d").quantized<max_pool<2>>();
  library.extend("aten::max_pool3d").quantized<max_pool<3>>();
}

}  // namespace flambeau::ops
