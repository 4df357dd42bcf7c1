#include <algorithm>
#include <string_view>

#include "flambeau/backends/onednn/cut.h"
#include "flambeau/backends/onednn/internal.h"

namespace flambeau::backends::onednn {
namespace {

using kernels::ConvolutionShape;
using kernels::ImageOrder;
using kernels::Spatial;

memory::dims flat(const Spatial& values) { return {values[1], values[2]}; }

// Some of the channels of images that have `of`.
memory::desc images(ImageOrder order, int64_t batch, int64_t channels, int64_t of, const Spatial& size) {
  const int64_t pixels = size[1] * size[2];
  const memory::dims sizes = {batch, channels, size[1], size[2]};
  return order == ImageOrder::kChannelsLast ? strided(sizes, {of * pixels, 1, size[2] * of, of})
                                            : strided(sizes, {of * pixels, pixels, size[2], 1});
}

// PyTorch's weights for some of a group's input channels, as oneDNN names their dimensions: groups where
// there are some, out, in, kernel.
memory::desc plain_weights(const ConvolutionShape& shape, int64_t channels) {
  const int64_t outs = shape.out_channels / shape.groups;
  const int64_t ins = shape.in_channels / shape.groups;
  const int64_t taps = shape.kernel_size();
  memory::dims sizes = {outs, channels, shape.kernel[1], shape.kernel[2]};
  memory::dims steps = {ins * taps, taps, shape.kernel[2], 1};
  if (shape.groups > 1) {
    sizes.insert(sizes.begin(), shape.groups);
    steps.insert(steps.begin(), outs * ins * taps);
  }
  return strided(sizes, steps);
}

// Of how many products a sum is taken one after the other: with more, its error would be over twice that of
// PyTorch, which begins anew as often.
constexpr int64_t kLongestSum = 512;

// How many pieces the sum over the input's channels is taken in. A sum that comes behind other epilogues
// needs what `out` held until the end.
int64_t pieces_of(const ConvolutionShape& shape, kernels::Epilogues epilogues) {
  if (shape.groups > 1 || (!epilogues.empty() && has_sum(epilogues.subspan(1)))) return 1;
  const int64_t products = shape.in_channels * shape.kernel_size();
  return std::clamp<int64_t>((products + kLongestSum - 1) / kLongestSum, 1,
                             std::max<int64_t>(shape.in_channels / kChannelStep, 1));
}

// What the piece does as it writes: all but the first add to what those before have written, and the last
// does what is to be done with the sum.
std::vector<kernels::Epilogue> epilogues_of(kernels::Epilogues epilogues, bool is_first, bool is_last) {
  using Kind = kernels::Epilogue::Kind;
  const bool adds = !epilogues.empty() && epilogues.front().kind == Kind::kSum;
  std::vector<kernels::Epilogue> own;
  if (!is_first) {
    own.push_back({.kind = Kind::kSum, .alpha = 1});
  } else if (adds) {
    own.push_back(epilogues.front());
  }
  if (is_last) own.insert(own.end(), epilogues.begin() + (adds ? 1 : 0), epilogues.end());
  return own;
}

}  // namespace

Layer convolution(const ConvolutionShape& shape, const float* weights, const float* bias,
                  kernels::Epilogues epilogues, std::span<const Weights> same) {
  return translate("a convolution", [&] {
    const memory::desc out =
        images(shape.output_order, shape.batch, shape.out_channels, shape.out_channels, shape.output());
    const memory::desc biases = strided({shape.out_channels}, {1});
    // oneDNN counts the gaps between taps, PyTorch the steps.
    const memory::dims gaps = {shape.dilation[1] - 1, shape.dilation[2] - 1};
    const memory::dims after = {shape.after(1), shape.after(2)};
    const int64_t step = shape.input_order == ImageOrder::kChannelsLast ? 1 : shape.input_size();
    int64_t count = pieces_of(shape, epilogues);
    const auto begin_of = [&](int64_t piece) {
      return piece == count ? shape.in_channels
                            : cut(shape.in_channels / kChannelStep, count, piece) * kChannelStep;
    };
    const auto weights_of = [&](int64_t piece) {
      return plain_weights(shape, (begin_of(piece + 1) - begin_of(piece)) / shape.groups);
    };
    const auto describe = [&](int64_t piece) {
      const bool is_last = piece + 1 == count;
      const memory::desc source =
          images(shape.input_order, shape.batch, begin_of(piece + 1) - begin_of(piece), shape.in_channels,
                 shape.input);
      const auto make = [&](auto... descs) {
        return dnnl::convolution_forward::desc(dnnl::prop_kind::forward_inference,
                                               dnnl::algorithm::convolution_direct, descs..., out,
                                               flat(shape.stride), gaps, flat(shape.padding), after);
      };
      const memory::desc plain = any(weights_of(piece));
      const auto wanted = bias != nullptr && is_last ? make(source, plain, biases) : make(source, plain);
      return dnnl::convolution_forward::primitive_desc(
          wanted, attributes(epilogues_of(epilogues, piece == 0, is_last)), engine());
    };
    // For some of an image's channels not all instruction sets have a kernel; what oneDNN does then takes
    // hundreds of times as long.
    if (count > 1 && std::string_view(describe(0).impl_info_str()).starts_with("ref")) count = 1;
    std::vector<std::unique_ptr<Layer::Prepared>> pieces;
    for (int64_t i = 0; i < count; ++i) {
      const dnnl::convolution_forward::primitive_desc desc = describe(i);
      pieces.push_back(std::make_unique<Layer::Prepared>(
          dnnl::convolution_forward(desc), desc,
          packed(weights, begin_of(i) * shape.kernel_size(), weights_of(i), desc.weights_desc(), same),
          biases, i + 1 == count ? bias : nullptr));
      pieces.back()->source_begin = begin_of(i) * step;
    }
    return Layer(std::move(pieces));
  });
}

}  // namespace flambeau::backends::onednn
