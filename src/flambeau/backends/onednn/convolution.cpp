#include "flambeau/backends/onednn/internal.h"

namespace flambeau::backends::onednn {
namespace {

using kernels::ConvolutionShape;
using kernels::ImageOrder;
using kernels::Spatial;

memory::dims flat(const Spatial& values) { return {values[1], values[2]}; }

memory::desc images(ImageOrder order, int64_t batch, int64_t channels, const Spatial& size) {
  const int64_t pixels = size[1] * size[2];
  const memory::dims sizes = {batch, channels, size[1], size[2]};
  return order == ImageOrder::kChannelsLast
             ? strided(sizes, {channels * pixels, 1, size[2] * channels, channels})
             : strided(sizes, {channels * pixels, pixels, size[2], 1});
}

// PyTorch's weights as oneDNN names their dimensions: groups where there are some, out, in, kernel.
memory::desc plain_weights(const ConvolutionShape& shape) {
  const int64_t outs = shape.out_channels / shape.groups;
  const int64_t ins = shape.in_channels / shape.groups;
  const int64_t taps = shape.kernel_size();
  memory::dims sizes = {outs, ins, shape.kernel[1], shape.kernel[2]};
  memory::dims steps = {ins * taps, taps, shape.kernel[2], 1};
  if (shape.groups > 1) {
    sizes.insert(sizes.begin(), shape.groups);
    steps.insert(steps.begin(), outs * ins * taps);
  }
  return strided(sizes, steps);
}

}  // namespace

Layer convolution(const ConvolutionShape& shape, const float* weights, const float* bias,
                  kernels::Epilogues epilogues, std::span<const Weights> same) {
  return translate("a convolution", [&] {
    const memory::desc source = images(shape.input_order, shape.batch, shape.in_channels, shape.input);
    const memory::desc out = images(shape.output_order, shape.batch, shape.out_channels, shape.output());
    const memory::desc plain = plain_weights(shape);
    const memory::desc biases = strided({shape.out_channels}, {1});
    // oneDNN counts the gaps between taps, PyTorch the steps.
    const memory::dims gaps = {shape.dilation[1] - 1, shape.dilation[2] - 1};
    const memory::dims after = {shape.after(1), shape.after(2)};
    const auto make = [&](auto... descs) {
      return dnnl::convolution_forward::desc(dnnl::prop_kind::forward_inference,
                                             dnnl::algorithm::convolution_direct, descs..., out,
                                             flat(shape.stride), gaps, flat(shape.padding), after);
    };
    const auto wanted = bias != nullptr ? make(source, any(plain), biases) : make(source, any(plain));
    const dnnl::convolution_forward::primitive_desc desc(wanted, attributes(epilogues), engine());
    return Layer(std::make_unique<Layer::Prepared>(dnnl::convolution_forward(desc), desc,
                                                   packed(weights, plain, desc.weights_desc(), same), biases,
                                                   bias));
  });
}

}  // namespace flambeau::backends::onednn
