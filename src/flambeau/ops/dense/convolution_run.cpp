#include <fmt/format.h>

#include "flambeau/ops/dense/convolution.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/promotion.h"

namespace flambeau::ops {
namespace {

kernels::Spatial spatial(std::span<const Size> values, int64_t neutral) {
  kernels::Spatial result = {neutral, neutral, neutral};
  for (size_t i = 0; i < values.size(); ++i) result[3 - values.size() + i] = values[i];
  return result;
}

// The image with zeros behind its last elements.
Tensor padded_behind(Context& context, const Tensor& input, const Dims& more) {
  Info<Size> info = info_of(input);
  for (size_t d = 0; d < more.size(); ++d) info.sizes[d + 2] += more[d];
  info.strides = row_major(info.sizes);
  const Tensor whole = context.allocate(info);
  fill(context, whole, 0);
  copy_into(context, input, whole.with_geometry({input.sizes(), whole.strides(), whole.offset()}));
  return whole;
}

// Whether PyTorch's accelerated way leaves a transposed convolution to its plain one.
bool is_rounded(const kernels::ConvolutionShape& shape) {
  if (!shape.transposed) return false;
  if (shape.dtype == DType::kFloat16) return true;
  bool is_large = false;
  for (size_t d = 0; d < 3; ++d) is_large = is_large || shape.output_padding[d] >= shape.stride[d];
  return shape.dtype == DType::kBFloat16 && is_large;
}

// The real or the imaginary numbers of a complex tensor.
Tensor part(const Tensor& tensor, bool is_imaginary) {
  Geometry geometry = tensor.geometry();
  // Strides of nothing may be as large as numbers go.
  for (int64_t& stride : geometry.strides) stride = tensor.element_count() == 0 ? 0 : stride * 2;
  geometry.offset = geometry.offset * 2 + (is_imaginary ? 1 : 0);
  return tensor.with_geometry(std::move(geometry), to_real(tensor.dtype()));
}

struct Plus {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Minus {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct MinusBoth {
  template <typename T>
  T operator()(T sum, T a, T b) const {
    return sum - a - b;
  }
};

Tensor sum_of_parts(Context& context, const Tensor& tensor) {
  const Tensor real = part(tensor, false);
  const Tensor sum = context.allocate(real.dtype(), real.sizes());
  map(context, "add", Plus{}, real.dtype(), sum, real, part(tensor, true));
  return sum;
}

}  // namespace

void convolve_complex(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                      const ConvolutionArguments<Size>& arguments, const Tensor& out) {
  if (out.element_count() == 0) return;
  const DType real = to_real(out.dtype());
  Info<Size> info = info_of(out);
  info.dtype = real;
  const Tensor a = context.allocate(info), b = context.allocate(info), c = context.allocate(info);
  Tensor bias_real, bias_sum;
  if (bias != nullptr) {
    bias_real = part(*bias, false);
    bias_sum = sum_of_parts(context, *bias);
  }
  convolve(context, part(input, false), part(weight, false), bias == nullptr ? nullptr : &bias_real,
           arguments, a);
  convolve(context, part(input, true), part(weight, true), nullptr, arguments, b);
  convolve(context, sum_of_parts(context, input), sum_of_parts(context, weight),
           bias == nullptr ? nullptr : &bias_sum, arguments, c);
  map(context, "sub", Minus{}, real, part(out, false), a, b);
  map(context, "sub", MinusBoth{}, real, part(out, true), c, a, b);
}

std::string sizes_text(std::span<const Size> sizes) {
  return fmt::format("[{}]", fmt::join(plain(sizes), ", "));
}
std::string sizes_text(std::span<const SymInt> sizes) {
  std::string text = "[";
  for (const SymInt& size : sizes) text += (text.size() == 1 ? "" : ", ") + number_text(size);
  return text + "]";
}

void convolve(Context& context, const Tensor& given_input, const Tensor& weight, const Tensor* bias,
              const ConvolutionArguments<Size>& arguments, const Tensor& out) {
  if (out.element_count() == 0) return;
  if (out.dtype() == DType::kBool || dtype_size(out.dtype()) == 0) fail_dtype("slow_conv2d_cpu", out.dtype());
  Tensor input = given_input;
  for (const int64_t more : arguments.more_padding) {
    if (more == 0) continue;
    input = padded_behind(context, given_input, arguments.more_padding);
    break;
  }
  const Info<Size> out_info = info_of(out);
  const bool is_last = !is_contiguous(out_info) && is_channels_last(out_info);
  const bool input_is_last = !input.is_contiguous() && is_channels_last(info_of(input));
  const Tensor image = input_is_last ? input : packed(context, input);
  const Tensor weights = packed(context, weight);
  Tensor biases;
  if (bias != nullptr) biases = packed(context, *bias);
  const std::span<const int64_t> in_sizes = image.sizes().span();
  const std::span<const int64_t> out_sizes = out.sizes().span();
  const kernels::ConvolutionShape shape{
      .dtype = out.dtype(),
      .transposed = arguments.transposed,
      .batch = in_sizes[0],
      .groups = arguments.groups,
      .in_channels = in_sizes[1],
      .out_channels = out_sizes[1],
      .input = spatial(checked(in_sizes.subspan(2)), 1),
      .kernel = spatial(checked(weights.sizes().span().subspan(2)), 1),
      .stride = spatial(arguments.stride, 1),
      .padding = spatial(arguments.padding, 0),
      .dilation = spatial(arguments.dilation, 1),
      .output_padding = spatial(arguments.output_padding, 0),
      .input_order = input_is_last ? kernels::ImageOrder::kChannelsLast : kernels::ImageOrder::kChannelsFirst,
      .output_order = is_last ? kernels::ImageOrder::kChannelsLast : kernels::ImageOrder::kChannelsFirst};
  if (image.element_count() == 0 || weights.element_count() == 0) {
    fill(context, out, 0);
    if (bias != nullptr) {
      Dims sizes(out.dim(), 1), strides(out.dim(), 0);
      sizes[1] = out_sizes[1];
      strides[1] = 1;
      copy_into(context, biases.with_geometry({sizes, strides, biases.offset()}), out);
    }
    return;
  }
  if (is_rounded(shape)) {
    return convolve_rounded(context, shape, packed(context, image), weights,
                            bias == nullptr ? nullptr : &biases, out);
  }
  const kernels::Convolution convolution(context.pool(), shape, weights.data(),
                                         bias == nullptr ? nullptr : biases.data());
  convolution.run(context.pool(), image.data(), out.mutable_data());
}

}  // namespace flambeau::ops
