// Gradients of convolutions: of the input by the transposed convolution (or back), of the weights by a
// product with the columns of the image.
#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/dense/convolution.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using Numbers = std::span<const Size>;

// What a convolution's result must be as large as.
template <typename N>
void check_convolution_gradient(const Info<N>& gradient, const Info<N>& input, const Info<N>& weight,
                                const ConvolutionArguments<N>& arguments) {
  const Info<N> result = convolution_info<N>(input, weight, nullptr, arguments);
  require_same_sizes("convolution_backward", gradient.sizes, result.sizes);
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> convolution_gradient_infos(
    const Info<N>& gradient, const Info<N>& input, const Info<N>& weight,
    const std::optional<std::span<const N>>& bias_sizes, const ConvolutionArguments<N>& arguments,
    const std::vector<bool>& mask) {
  check_convolution_gradient(gradient, input, weight, arguments);
  Info<N> of_input = contiguous<N>(input.dtype, input.sizes, input.device);
  Info<N> of_weight = contiguous<N>(weight.dtype, weight.sizes, weight.device);
  if (convolves_channels_last(input, weight)) {
    of_input.strides = channels_last_strides(of_input.sizes);
    of_weight.strides = channels_last_strides(of_weight.sizes);
  }
  ShortList<N> sizes{gradient.sizes[1]};
  if (bias_sizes && !bias_sizes->empty())
    require_same_sizes("convolution_backward", ShortList<N>(*bias_sizes), sizes);
  return {asked(mask, 0, std::move(of_input)), asked(mask, 1, std::move(of_weight)),
          asked(mask, 2, contiguous<N>(input.dtype, sizes, input.device))};
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> convolution_gradient_shape(
    const Info<N>& gradient, const Info<N>& input, const Info<N>& weight,
    std::optional<std::span<const N>> bias_sizes, std::span<const N> stride, std::span<const N> padding,
    std::span<const N> dilation, bool transposed, std::span<const N> output_padding, N groups,
    const std::vector<bool>& mask) {
  return convolution_gradient_infos<N>(
      gradient, input, weight, bias_sizes,
      convolution_arguments<N>(weight, stride, padding, dilation, transposed, output_padding, groups), mask);
}

// The numbers of each dimension of space, three of them.
struct Space {
  int64_t image[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1};
  int64_t result[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t padding[3] = {0, 0, 0};
  int64_t dilation[3] = {1, 1, 1};

  Space(const Tensor& image_tensor, const Tensor& result_tensor, std::span<const int64_t> kernel_sizes,
        const ConvolutionArguments<Size>& arguments) {
    const size_t dims = kernel_sizes.size();
    for (size_t d = 0; d < dims; ++d) {
      const size_t at = 3 - dims + d;
      image[at] = image_tensor.sizes()[d + 2];
      result[at] = result_tensor.sizes()[d + 2];
      kernel[at] = kernel_sizes[d];
      stride[at] = arguments.stride[d];
      padding[at] = arguments.padding[d];
      dilation[at] = arguments.dilation[d];
    }
  }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t places() const { return result[0] * result[1] * result[2]; }
};

// What one tap of the kernel meets at each place of the result; zeros in the padding.
template <typename T>
void fill_column(const Space& space, const T* image, int64_t tap, T* to) {
  const int64_t k[3] = {tap / (space.kernel[1] * space.kernel[2]), tap / space.kernel[2] % space.kernel[1],
                        tap % space.kernel[2]};
  int64_t offset[3];
  for (size_t d = 0; d < 3; ++d) offset[d] = k[d] * space.dilation[d] - space.padding[d];
  const int64_t step = space.stride[2];
  const int64_t width = space.result[2];
  // The places whose element lies inside of the row.
  const int64_t begin = std::clamp<int64_t>(offset[2] < 0 ? (-offset[2] - 1) / step + 1 : 0, 0, width);
  const int64_t room = space.image[2] - offset[2];
  const int64_t end = std::clamp<int64_t>(room > 0 ? (room - 1) / step + 1 : 0, begin, width);
  for (int64_t z = 0; z < space.result[0]; ++z) {
    const int64_t from_z = z * space.stride[0] + offset[0];
    for (int64_t y = 0; y < space.result[1]; ++y, to += width) {
      const int64_t from_y = y * space.stride[1] + offset[1];
      if (from_z < 0 || from_z >= space.image[0] || from_y < 0 || from_y >= space.image[1]) {
        std::fill_n(to, width, T(0));
        continue;
      }
      const T* const row = image + (from_z * space.image[1] + from_y) * space.image[2] + offset[2];
      std::fill_n(to, begin, T(0));
      if (step == 1) {
        std::copy_n(row + begin, end - begin, to + begin);
      } else {
        for (int64_t x = begin; x < end; ++x) to[x] = row[x * step];
      }
      std::fill_n(to + end, width - end, T(0));
    }
  }
}

// sum over images and places of result[c, place] * image[i, place met by tap k], as [c, i of its group, k].
template <typename T>
Tensor weight_gradient(Context& context, const Tensor& image, const Tensor& result, const Dims& sizes,
                       const ConvolutionArguments<Size>& arguments) {
  const Space space(image, result, sizes.span().subspan(2), arguments);
  const DType wide = image.dtype();
  const int64_t groups = arguments.groups;
  const int64_t batch = image.sizes()[0], channels = image.sizes()[1], out_channels = result.sizes()[1];
  const int64_t rows = channels * space.taps(), places = space.places();
  const Tensor sum = context.allocate(wide, sizes);
  fill(context, sum, 0);
  if (batch == 0 || rows == 0 || out_channels == 0 || places == 0) return sum;
  constexpr int64_t kMostColumns = int64_t{1} << 22;
  const int64_t together = std::clamp<int64_t>(kMostColumns / (Size(rows) * places).value(), 1, batch);
  const int64_t image_size = image.element_count() / (batch * channels);
  const Tensor columns = context.allocate(wide, Dims{groups, rows / groups, together * places});
  const Tensor factor = context.allocate(wide, Dims{groups, out_channels / groups, together * places});
  const Tensor product = context.allocate(wide, Dims{groups, out_channels / groups, rows / groups});
  for (int64_t first = 0; first < batch; first += together) {
    const int64_t count = std::min(together, batch - first);
    const int64_t length = together * places;
    T* const into = columns.mutable_data<T>();
    T* const left = factor.mutable_data<T>();
    for_each_part(context, rows, count * places, [&](int64_t row) {
      const int64_t channel = row / space.taps();
      for (int64_t i = 0; i < count; ++i) {
        const T* const from = image.data<T>() + ((first + i) * channels + channel) * image_size;
        fill_column(space, from, row % space.taps(), into + row * length + i * places);
      }
    });
    for_each_part(context, out_channels, count * places, [&](int64_t channel) {
      for (int64_t i = 0; i < count; ++i) {
        const T* const from = result.data<T>() + ((first + i) * out_channels + channel) * places;
        std::copy_n(from, places, left + channel * length + i * places);
      }
    });
    const auto used = [&](const Tensor& whole) {
      Dims shown = whole.sizes();
      shown[2] = count * places;
      return whole.with_geometry({shown, whole.strides(), whole.offset()});
    };
    multiply(context, used(factor), transposed(used(columns)), product);
    T* const total = sum.mutable_data<T>();
    const T* const more = product.data<T>();
    for (int64_t i = 0; i < sum.element_count(); ++i) total[i] += more[i];
  }
  return sum;
}

// The convolution of the other kind, whose result is at least as large as the input was.
Tensor input_gradient(Context& context, const Tensor& gradient, const Tensor& weight, const Dims& sizes,
                      const ConvolutionArguments<Size>& given) {
  ConvolutionArguments<Size> arguments = given;
  arguments.transposed = !given.transposed;
  for (size_t d = 0; d + 2 < sizes.size(); ++d) {
    const Size reach = given.dilation[d] * (Size(weight.sizes()[d + 2]) - 1) + 1;
    arguments.output_padding[d] =
        given.transposed ? Size(0)
                         : Size(sizes[d + 2]) - ((Size(gradient.sizes()[d + 2]) - 1) * given.stride[d] -
                                                 given.padding[d] * 2 + reach);
  }
  Info<Size> info = contiguous(gradient.dtype(), sizes);
  for (size_t d = 0; given.transposed && d + 2 < sizes.size(); ++d) {
    const Size reach = given.dilation[d] * (Size(weight.sizes()[d + 2]) - 1) + 1;
    info.sizes[d + 2] = (Size(gradient.sizes()[d + 2]) + given.padding[d] * 2 - reach) / given.stride[d] + 1;
  }
  info.strides = row_major(info.sizes);
  const Tensor out = context.allocate(info);
  convolve(context, gradient, weight, nullptr, arguments, out);
  return out.with_geometry({sizes, out.strides(), out.offset()});
}

std::tuple<Value, Value, Value> run_convolution_gradient(Context& context, const Tensor& gradient,
                                                         const Tensor& input, const Tensor& weight,
                                                         const std::optional<Numbers>& bias_sizes,
                                                         const ConvolutionArguments<Size>& arguments,
                                                         const std::vector<bool>& mask) {
  require(mask.size() == 3, "output_mask should have three entries");
  const auto [input_info, weight_info, bias_info] = convolution_gradient_infos<Size>(
      info_of(gradient), info_of(input), info_of(weight), bias_sizes, arguments, mask);
  Tensor of_input, of_weight, of_bias;
  if (mask[0]) of_input = context.allocate(input_info);
  if (mask[1]) of_weight = context.allocate(weight_info);
  if (mask[2]) of_bias = context.allocate(bias_info);
  if (!input.is_meta()) {
    with_floats("convolution_backward", input.dtype(), [&]<typename T>(T, DType wide) {
      const Tensor g = packed_as(context, gradient, wide);
      if (mask[0]) {
        const Tensor weights = packed_as(context, weight, wide);
        copy_into(context, input_gradient(context, g, weights, input.sizes(), arguments), of_input);
      }
      if (mask[1]) {
        const Tensor x = packed_as(context, input, wide);
        copy_into(context,
                  arguments.transposed ? weight_gradient<T>(context, g, x, weight.sizes(), arguments)
                                       : weight_gradient<T>(context, x, g, weight.sizes(), arguments),
                  of_weight);
      }
      if (mask[2]) {
        Dims others{0};
        for (size_t d = 2; d < g.dim(); ++d) others.push_back(static_cast<int64_t>(d));
        Context inner = context.without_interceptor();
        copy_into(context, call(inner, "aten::sum.dim_IntList", g, others), of_bias);
      }
    });
  }
  return {value_of(of_input), value_of(of_weight), value_of(of_bias)};
}

std::tuple<Value, Value, Value> convolution_gradient(Context& context, const Tensor& gradient,
                                                     const Tensor& input, const Tensor& weight,
                                                     std::optional<Numbers> bias_sizes, Numbers stride,
                                                     Numbers padding, Numbers dilation, bool transposed,
                                                     Numbers output_padding, Size groups,
                                                     const std::vector<bool>& mask) {
  return run_convolution_gradient(context, gradient, input, weight, bias_sizes,
                                  convolution_arguments<Size>(info_of(weight), stride, padding, dilation,
                                                              transposed, output_padding, groups),
                                  mask);
}

// ---- in two dimensions, with the kernel's size said again

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> slow_gradient_shape(const Info<N>& gradient, const Info<N>& input,
                                                          const Info<N>& weight, std::span<const N> kernel,
                                                          std::span<const N> stride,
                                                          std::span<const N> padding,
                                                          const std::vector<bool>& mask) {
  require(
      weight.dim() == 4 && kernel.size() == 2 && weight.sizes[2] == kernel[0] && weight.sizes[3] == kernel[1],
      "_slow_conv2d_backward: kernel_size is not that of the weights");
  const ShortList<N> none(1, N(0)), one(1, N(1));
  return convolution_gradient_infos<N>(
      gradient, input, weight, std::nullopt,
      convolution_arguments<N>(weight, stride, padding, one, false, none, N(1)), mask);
}
std::tuple<Value, Value, Value> slow_gradient(Context& context, const Tensor& gradient, const Tensor& input,
                                              const Tensor& weight, Numbers kernel, Numbers stride,
                                              Numbers padding, const std::vector<bool>& mask) {
  slow_gradient_shape<Size>(info_of(gradient), info_of(input), info_of(weight), kernel, stride, padding,
                            mask);
  const ShortList<Size> none(1, Size(0)), one(1, Size(1));
  return run_convolution_gradient(
      context, gradient, input, weight, std::nullopt,
      convolution_arguments<Size>(info_of(weight), stride, padding, one, false, none, Size(1)), mask);
}

}  // namespace

void define_convolution_backward(Library& library) {
  library
      .define(
          "aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, "
          "SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
          "SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)")
      .shape<convolution_gradient_shape<Size>, convolution_gradient_shape<SymInt>>()
      .function<convolution_gradient>();
  library
      .define(
          "aten::_slow_conv2d_backward.output_mask(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] "
          "kernel_size, SymInt[2] stride, SymInt[2] padding, bool[3] output_mask) -> (Tensor grad_input, "
          "Tensor grad_weight, Tensor grad_bias)")
      .shape<slow_gradient_shape<Size>, slow_gradient_shape<SymInt>>()
      .function<slow_gradient>();
}

}  // namespace flambeau::ops
