#include "flambeau/nn/layers/shape.h"

#include "flambeau/nn/functional/convolution.h"
#include "flambeau/nn/functional/shape.h"

namespace flambeau::nn {

Tensor Flatten::forward(const Tensor& input) { return flatten(input, start_dim_, end_dim_); }

Tensor Unflatten::forward(const Tensor& input) {
  return unflatten(input, dim_, Sizes(unflattened_size_.begin(), unflattened_size_.end()));
}

Tensor PixelShuffle::forward(const Tensor& input) { return pixel_shuffle(input, upscale_factor_); }
Tensor PixelUnshuffle::forward(const Tensor& input) { return pixel_unshuffle(input, downscale_factor_); }
Tensor ChannelShuffle::forward(const Tensor& input) { return channel_shuffle(input, groups_); }

Tensor Unfold::forward(const Tensor& input) {
  return unfold_image(input, kernel_size_, options_.dilation, options_.padding, options_.stride);
}

Tensor Fold::forward(const Tensor& input) {
  return fold_image(input, output_size_, kernel_size_, options_.dilation, options_.padding, options_.stride);
}

}  // namespace flambeau::nn
