// Convolutions over one, two and three dimensions.
#pragma once

#include "flambeau/nn/extent.h"
#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor conv1d(Input x, const Tensor& weight, const Tensor& bias = {}, Extent<1> stride = 1,
              Extent<1> padding = 0, Extent<1> dilation = 1, int64_t groups = 1);
// `padding`: "same" or "valid".
Tensor conv1d(Input x, const Tensor& weight, const Tensor& bias, Extent<1> stride, std::string_view padding,
              Extent<1> dilation = 1, int64_t groups = 1);
Tensor conv2d(Input x, const Tensor& weight, const Tensor& bias = {}, Extent<2> stride = 1,
              Extent<2> padding = 0, Extent<2> dilation = 1, int64_t groups = 1);
Tensor conv2d(Input x, const Tensor& weight, const Tensor& bias, Extent<2> stride, std::string_view padding,
              Extent<2> dilation = 1, int64_t groups = 1);
Tensor conv3d(Input x, const Tensor& weight, const Tensor& bias = {}, Extent<3> stride = 1,
              Extent<3> padding = 0, Extent<3> dilation = 1, int64_t groups = 1);
Tensor conv3d(Input x, const Tensor& weight, const Tensor& bias, Extent<3> stride, std::string_view padding,
              Extent<3> dilation = 1, int64_t groups = 1);
Tensor conv_transpose1d(Input x, const Tensor& weight, const Tensor& bias = {}, Extent<1> stride = 1,
                        const Sizes& padding = Sizes(1, 0), const Sizes& output_padding = Sizes(1, 0),
                        int64_t groups = 1, Extent<1> dilation = 1);
Tensor conv_transpose2d(Input x, const Tensor& weight, const Tensor& bias = {}, Extent<2> stride = 1,
                        const Sizes& padding = Sizes(2, 0), const Sizes& output_padding = Sizes(2, 0),
                        int64_t groups = 1, Extent<2> dilation = 1);
Tensor conv_transpose3d(Input x, const Tensor& weight, const Tensor& bias = {}, Extent<3> stride = 1,
                        const Sizes& padding = Sizes(3, 0), const Sizes& output_padding = Sizes(3, 0),
                        int64_t groups = 1, Extent<3> dilation = 1);
Tensor unfold_image(Input x, Extent<2> kernel_size, Extent<2> dilation = 1, Extent<2> padding = 0,
                    Extent<2> stride = 1);
Tensor fold_image(Input x, Extent<2> output_size, Extent<2> kernel_size, Extent<2> dilation = 1,
                  Extent<2> padding = 0, Extent<2> stride = 1);

}  // namespace flambeau::nn
