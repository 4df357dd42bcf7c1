// Pooling over one, two and three dimensions.
#pragma once

#include "flambeau/nn/extent.h"
#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor max_pool1d(Input x, Extent<1> kernel_size, const std::optional<Extent<1>>& stride = {},
                  Extent<1> padding = 0, Extent<1> dilation = 1, bool ceil_mode = false);
Tensor max_pool2d(Input x, Extent<2> kernel_size, const std::optional<Extent<2>>& stride = {},
                  Extent<2> padding = 0, Extent<2> dilation = 1, bool ceil_mode = false);
Tensor max_pool3d(Input x, Extent<3> kernel_size, const std::optional<Extent<3>>& stride = {},
                  Extent<3> padding = 0, Extent<3> dilation = 1, bool ceil_mode = false);
// The values, and where in the input they were.
std::pair<Tensor, Tensor> max_pool1d_with_indices(Input x, Extent<1> kernel_size,
                                                  const std::optional<Extent<1>>& stride = {},
                                                  Extent<1> padding = 0, Extent<1> dilation = 1,
                                                  bool ceil_mode = false);
std::pair<Tensor, Tensor> max_pool2d_with_indices(Input x, Extent<2> kernel_size,
                                                  const std::optional<Extent<2>>& stride = {},
                                                  Extent<2> padding = 0, Extent<2> dilation = 1,
                                                  bool ceil_mode = false);
std::pair<Tensor, Tensor> max_pool3d_with_indices(Input x, Extent<3> kernel_size,
                                                  const std::optional<Extent<3>>& stride = {},
                                                  Extent<3> padding = 0, Extent<3> dilation = 1,
                                                  bool ceil_mode = false);
Tensor avg_pool1d(Input x, Extent<1> kernel_size, const std::optional<Extent<1>>& stride = {},
                  Extent<1> padding = 0, bool ceil_mode = false, bool count_include_pad = true);
Tensor avg_pool2d(Input x, Extent<2> kernel_size, const std::optional<Extent<2>>& stride = {},
                  Extent<2> padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int64_t> divisor_override = {});
Tensor avg_pool3d(Input x, Extent<3> kernel_size, const std::optional<Extent<3>>& stride = {},
                  Extent<3> padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int64_t> divisor_override = {});
Tensor adaptive_avg_pool1d(Input x, const Sizes& output_size);
Tensor adaptive_avg_pool2d(Input x, const Sizes& output_size);
Tensor adaptive_avg_pool3d(Input x, const Sizes& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool1d(Input x, const Sizes& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool2d(Input x, const Sizes& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool3d(Input x, const Sizes& output_size);

}  // namespace flambeau::nn
