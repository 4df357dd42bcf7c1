#include "flambeau/nn/layers/convolution.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/convolution.h"
#include "flambeau/nn/functional/padding.h"
#include "flambeau/nn/init.h"

namespace flambeau::nn {
namespace {

template <size_t N>
Dims weight_sizes(int64_t first, int64_t second, const Extent<N>& kernel_size) {
  Dims sizes{first, second};
  for (const int64_t size : kernel_size) sizes.push_back(size);
  return sizes;
}

void check_channels(int64_t in_channels, int64_t out_channels, int64_t groups) {
  if (groups > 0 && in_channels % groups == 0 && out_channels % groups == 0) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("{} channels to {} cannot be convolved in {} groups", in_channels, out_channels, groups),
      "both numbers of channels must be divisible by the groups");
}

// From the last dimension to the first, before and after: as pad() takes it.
template <size_t N>
Dims reversed_padding(const ConvOptions<N>& options, const Extent<N>& kernel_size) {
  Dims padding(2 * N, 0);
  for (size_t d = 0; d < N; ++d) {
    const size_t at = 2 * (N - 1 - d);
    const int64_t total = options.padding.mode() == "same" ? options.dilation[d] * (kernel_size[d] - 1)
                                                           : 2 * options.padding.extent()[d];
    padding[at] = total / 2;
    padding[at + 1] = total - padding[at];
  }
  return padding;
}

// One name for the function of each number of dimensions.
template <typename Padding>
Tensor convolve(Input x, const Tensor& w, const Tensor& b, Extent<1> s, const Padding& p, Extent<1> d,
                int64_t g) {
  return conv1d(x, w, b, s, p, d, g);
}
template <typename Padding>
Tensor convolve(Input x, const Tensor& w, const Tensor& b, Extent<2> s, const Padding& p, Extent<2> d,
                int64_t g) {
  return conv2d(x, w, b, s, p, d, g);
}
template <typename Padding>
Tensor convolve(Input x, const Tensor& w, const Tensor& b, Extent<3> s, const Padding& p, Extent<3> d,
                int64_t g) {
  return conv3d(x, w, b, s, p, d, g);
}

}  // namespace

template <size_t N>
Conv<N>::Conv(int64_t in_channels, int64_t out_channels, Extent<N> kernel_size, ConvOptions<N> options)
    : options_(std::move(options)) {
  check_channels(in_channels, out_channels, options_.groups);
  const std::string& mode = options_.padding.mode();
  if (!mode.empty() && mode != "same" && mode != "valid") {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no padding of a convolution", printable(mode)),
                "give numbers, \"same\" or \"valid\"");
  }
  weight = init::empty(weight_sizes(out_channels, in_channels / options_.groups, kernel_size));
  if (options_.bias) bias = init::empty({out_channels});
  this->add_parameter("weight", weight);
  this->add_parameter("bias", bias);
  init::reset_affine(weight, bias);
  if (options_.padding_mode != "zeros") reversed_padding_ = reversed_padding(options_, kernel_size);
}

template <size_t N>
Tensor Conv<N>::forward(const Tensor& input) {
  const ConvOptions<N>& o = options_;
  if (o.padding_mode != "zeros") {
    Sizes padding;
    for (const int64_t number : reversed_padding_) padding.emplace_back(number);
    return convolve(pad(input, padding, o.padding_mode), weight, bias, o.stride, Extent<N>(0), o.dilation,
                    o.groups);
  }
  if (!o.padding.mode().empty())
    return convolve(input, weight, bias, o.stride, o.padding.mode(), o.dilation, o.groups);
  return convolve(input, weight, bias, o.stride, o.padding.extent(), o.dilation, o.groups);
}

template <size_t N>
std::string Conv<N>::class_name() const {
  return fmt::format("torch.nn.modules.conv.Conv{}d", N);
}

template <size_t N>
ConvTranspose<N>::ConvTranspose(int64_t in_channels, int64_t out_channels, Extent<N> kernel_size,
                                ConvTransposeOptions<N> options)
    : kernel_size_(kernel_size), options_(options) {
  check_channels(in_channels, out_channels, options_.groups);
  weight = init::empty(weight_sizes(in_channels, out_channels / options_.groups, kernel_size));
  if (options_.bias) bias = init::empty({out_channels});
  this->add_parameter("weight", weight);
  this->add_parameter("bias", bias);
  init::reset_affine(weight, bias);
}

template <size_t N>
std::vector<SymInt> ConvTranspose<N>::output_padding(
    const Tensor& input, const std::optional<std::vector<SymInt>>& output_size) const {
  if (!output_size) return {options_.output_padding.begin(), options_.output_padding.end()};
  const size_t given = output_size->size();
  if (given < N) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an output size of {} numbers is given, {} are needed", given, N));
  }
  std::vector<SymInt> padding;
  for (size_t d = 0; d < N; ++d) {
    const SymInt least =
        (size(input, static_cast<int64_t>(d) - static_cast<int64_t>(N)) - 1) * options_.stride[d] -
        2 * options_.padding[d] + options_.dilation[d] * (kernel_size_[d] - 1) + 1;
    padding.push_back((*output_size)[given - N + d] - least);
  }
  return padding;
}

template <size_t N>
Tensor ConvTranspose<N>::forward(const Tensor& input, const std::optional<std::vector<SymInt>>& output_size) {
  const ConvTransposeOptions<N>& o = options_;
  const Sizes padding(o.padding.begin(), o.padding.end());
  const Sizes outside = output_padding(input, output_size);
  if constexpr (N == 1) {
    return conv_transpose1d(input, weight, bias, o.stride, padding, outside, o.groups, o.dilation);
  } else if constexpr (N == 2) {
    return conv_transpose2d(input, weight, bias, o.stride, padding, outside, o.groups, o.dilation);
  } else {
    return conv_transpose3d(input, weight, bias, o.stride, padding, outside, o.groups, o.dilation);
  }
}

template <size_t N>
std::string ConvTranspose<N>::class_name() const {
  return fmt::format("torch.nn.modules.conv.ConvTranspose{}d", N);
}

template class Conv<1>;
template class Conv<2>;
template class Conv<3>;
template class ConvTranspose<1>;
template class ConvTranspose<2>;
template class ConvTranspose<3>;

}  // namespace flambeau::nn
