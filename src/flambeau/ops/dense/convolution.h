// What all forms of convolution share: the rule of sizes and memory layout, and the way to the engine.
#pragma once

#include <span>
#include <string_view>

#include "flambeau/kernels/convolution/convolution.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {

template <typename N>
struct ConvolutionArguments {
  ShortList<N> stride, padding, dilation, output_padding;
  ShortList<N> more_padding = {};  // behind the last element only: padding="same" with an even kernel
  bool transposed = false;
  N groups = 1;
};

std::string sizes_text(std::span<const Size> sizes);
std::string sizes_text(std::span<const SymInt> sizes);

// One number for each dimension of space; a single one stands for all.
template <typename N>
ShortList<N> for_each_dimension(std::span<const N> given, size_t dims, const char* name) {
  if (given.size() == dims) return ShortList<N>(given);
  if (given.size() == 1) return ShortList<N>(dims, given[0]);
  fail_argument("expected " + std::string(name) + " to be a single integer value or a list of " +
                std::to_string(dims) + " values to match the convolution dimensions, but got " + name + "=" +
                sizes_text(given));
}

template <typename N>
ConvolutionArguments<N> convolution_arguments(const Info<N>& weight, std::span<const N> stride,
                                              std::span<const N> padding, std::span<const N> dilation,
                                              bool transposed, std::span<const N> output_padding, N groups) {
  require(weight.dim() > 2, "weight should have at least three dimensions");
  const size_t dims = weight.dim() - 2;
  return {.stride = for_each_dimension(stride, dims, "stride"),
          .padding = for_each_dimension(padding, dims, "padding"),
          .dilation = for_each_dimension(dilation, dims, "dilation"),
          .output_padding = for_each_dimension(output_padding, dims, "output_padding"),
          .transposed = transposed,
          .groups = groups};
}

template <typename N>
void check_convolution(const Info<N>& input, const Info<N>& weight, const Info<N>* bias,
                       const ConvolutionArguments<N>& arguments) {
  const size_t rank = weight.dim();
  for (size_t d = 0; d + 2 < rank; ++d) {
    require(arguments.padding[d] >= N(0), "negative padding is not supported");
    require(arguments.output_padding[d] >= N(0), "negative output_padding is not supported");
    require(arguments.stride[d] > N(0), "non-positive stride is not supported");
    require(arguments.dilation[d] > N(0), "dilation should be greater than zero");
  }
  const N& groups = arguments.groups;
  if (!(groups > N(0))) {
    fail_argument("expected groups to be greater than 0, but got groups=" + number_text(groups));
  }
  const std::string weight_text = "weight of size " + sizes_text(weight.sizes.span());
  if (input.dim() != rank) {
    fail_argument("Expected " + std::to_string(rank) + "-dimensional input for " + std::to_string(rank) +
                  "-dimensional " + weight_text + ", but got " + std::to_string(input.dim()) +
                  "-dimensional input of size " + sizes_text(input.sizes.span()) + " instead");
  }
  const std::string given = "Given groups=" + number_text(groups) + ", ";
  if (weight.sizes[0] < groups) {
    fail_argument(given + "expected weight to be at least " + number_text(groups) +
                  " at dimension 0, but got " + weight_text + " instead");
  }
  if (!(modulo(weight.sizes[0], groups) == N(0))) {
    fail_argument(given + "expected weight to be divisible by " + number_text(groups) +
                  " at dimension 0, but got " + weight_text + " instead");
  }
  const N in_channels = arguments.transposed ? weight.sizes[0] : weight.sizes[1] * groups;
  if (!(input.sizes[1] == in_channels)) {
    fail_argument((arguments.transposed ? std::string("Given transposed=1, ") : given) + weight_text +
                  ", expected input" + sizes_text(input.sizes.span()) + " to have " +
                  number_text(in_channels) + " channels, but got " + number_text(input.sizes[1]) +
                  " channels instead");
  }
  const N out_channels = arguments.transposed ? weight.sizes[1] * groups : weight.sizes[0];
  if (bias != nullptr && (bias->dim() != 1 || !(bias->sizes[0] == out_channels))) {
    fail_argument("Given " + weight_text + ", expected bias to be 1-dimensional with " +
                  number_text(out_channels) + " elements, but got bias of size " +
                  sizes_text(bias->sizes.span()) + " instead");
  }
  if (input.dtype != weight.dtype || (bias != nullptr && bias->dtype != input.dtype)) {
    const DType other = input.dtype != weight.dtype ? weight.dtype : bias->dtype;
    fail_argument("Input type (" + std::string(dtype_name(input.dtype)) + ") and " +
                  (input.dtype != weight.dtype ? "weight" : "bias") + " type (" +
                  std::string(dtype_name(other)) + ") should be the same");
  }
}

// Channels last where the input or the weights lie so.
template <typename N>
bool convolves_channels_last(const Info<N>& input, const Info<N>& weight) {
  const auto lies_so = [](const Info<N>& info) {
    return suggested_format(info) != MemoryFormat::kContiguous;
  };
  if (input.dim() == 5 && input.dtype != DType::kFloat32) return false;
  return (input.dim() == 4 || input.dim() == 5) && (lies_so(input) || lies_so(weight));
}

template <typename N>
Info<N> convolution_info(const Info<N>& input, const Info<N>& weight, const Info<N>* bias,
                         const ConvolutionArguments<N>& arguments) {
  check_convolution(input, weight, bias, arguments);
  ShortList<N> sizes{input.sizes[0],
                     arguments.transposed ? weight.sizes[1] * arguments.groups : weight.sizes[0]};
  std::string input_text, kernel_text;
  bool fits = true;
  for (size_t d = 0; d + 2 < input.dim(); ++d) {
    const N reach = arguments.dilation[d] * (weight.sizes[d + 2] - N(1)) + N(1);
    N padded = input.sizes[d + 2] + N(2) * arguments.padding[d];
    if (!arguments.more_padding.empty()) padded += arguments.more_padding[d];
    if (arguments.transposed) {
      sizes.push_back((input.sizes[d + 2] - N(1)) * arguments.stride[d] - N(2) * arguments.padding[d] +
                      reach + arguments.output_padding[d]);
      continue;
    }
    fits = fits && reach <= padded;
    input_text += (d == 0 ? "" : " x ") + number_text(padded);
    kernel_text += (d == 0 ? "" : " x ") + number_text(reach);
    sizes.push_back(floor_div(padded - reach, arguments.stride[d]) + N(1));
  }
  if (!fits) {
    fail_argument("Calculated padded input size per channel: (" + input_text + "). Kernel size: (" +
                  kernel_text + "). Kernel size can't be greater than actual input size");
  }
  Info<N> out = contiguous<N>(input.dtype, std::move(sizes), input.device);
  if (convolves_channels_last(input, weight)) out.strides = channels_last_strides(out.sizes);
  return out;
}

// A batch of one, where the operator takes single images.
template <typename N>
Info<N> as_batch(const Info<N>& image) {
  Info<N> batch = image;
  batch.strides.insert(0, image.dim() == 0 ? N(1) : image.sizes[0] * image.strides[0]);
  batch.sizes.insert(0, 1);
  return batch;
}
template <typename N>
Info<N> without_batch(Info<N> info) {
  info.sizes.erase(0);
  info.strides.erase(0);
  return info;
}

// The same for complex numbers out of three convolutions of real ones, as PyTorch has it for all forms but
// the general one: rounding shows where parts cancel.
void convolve_complex(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                      const ConvolutionArguments<Size>& arguments, const Tensor& out);

// Transposed, of float16 or bfloat16; image, weights and bias are packed.
void convolve_rounded(Context& context, const kernels::ConvolutionShape& shape, const Tensor& image,
                      const Tensor& weights, const Tensor* bias, const Tensor& out);

// Fills `out`, which has the sizes and strides of convolution_info.
void convolve(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
              const ConvolutionArguments<Size>& arguments, const Tensor& out);

}  // namespace flambeau::ops
