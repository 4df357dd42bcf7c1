#include "flambeau/nn/functional/convolution.h"

namespace flambeau::nn {

Tensor conv1d(Input x, const Tensor& weight, const Tensor& bias, Extent<1> stride, Extent<1> padding,
              Extent<1> dilation, int64_t groups) {
  return call(x, "aten::conv1d",
              {x.tensor, weight, bias, stride.dims(), padding.dims(), dilation.dims(), groups});
}
Tensor conv1d(Input x, const Tensor& weight, const Tensor& bias, Extent<1> stride, std::string_view padding,
              Extent<1> dilation, int64_t groups) {
  return call(x, "aten::conv1d.padding",
              {x.tensor, weight, bias, stride.dims(), Value(padding), dilation.dims(), groups});
}
Tensor conv2d(Input x, const Tensor& weight, const Tensor& bias, Extent<2> stride, Extent<2> padding,
              Extent<2> dilation, int64_t groups) {
  return call(x, "aten::conv2d",
              {x.tensor, weight, bias, stride.dims(), padding.dims(), dilation.dims(), groups});
}
Tensor conv2d(Input x, const Tensor& weight, const Tensor& bias, Extent<2> stride, std::string_view padding,
              Extent<2> dilation, int64_t groups) {
  return call(x, "aten::conv2d.padding",
              {x.tensor, weight, bias, stride.dims(), Value(padding), dilation.dims(), groups});
}
Tensor conv3d(Input x, const Tensor& weight, const Tensor& bias, Extent<3> stride, Extent<3> padding,
              Extent<3> dilation, int64_t groups) {
  return call(x, "aten::conv3d",
              {x.tensor, weight, bias, stride.dims(), padding.dims(), dilation.dims(), groups});
}
Tensor conv3d(Input x, const Tensor& weight, const Tensor& bias, Extent<3> stride, std::string_view padding,
              Extent<3> dilation, int64_t groups) {
  return call(x, "aten::conv3d.padding",
              {x.tensor, weight, bias, stride.dims(), Value(padding), dilation.dims(), groups});
}
Tensor conv_transpose1d(Input x, const Tensor& weight, const Tensor& bias, Extent<1> stride,
                        const Sizes& padding, const Sizes& output_padding, int64_t groups,
                        Extent<1> dilation) {
  return call(x, "aten::conv_transpose1d",
              {x.tensor, weight, bias, stride.dims(), ints_value(padding), ints_value(output_padding), groups,
               dilation.dims()});
}
Tensor conv_transpose2d(Input x, const Tensor& weight, const Tensor& bias, Extent<2> stride,
                        const Sizes& padding, const Sizes& output_padding, int64_t groups,
                        Extent<2> dilation) {
  return call(x, "aten::conv_transpose2d.input",
              {x.tensor, weight, bias, stride.dims(), ints_value(padding), ints_value(output_padding), groups,
               dilation.dims()});
}
Tensor conv_transpose3d(Input x, const Tensor& weight, const Tensor& bias, Extent<3> stride,
                        const Sizes& padding, const Sizes& output_padding, int64_t groups,
                        Extent<3> dilation) {
  return call(x, "aten::conv_transpose3d.input",
              {x.tensor, weight, bias, stride.dims(), ints_value(padding), ints_value(output_padding), groups,
               dilation.dims()});
}
Tensor unfold_image(Input x, Extent<2> kernel_size, Extent<2> dilation, Extent<2> padding, Extent<2> stride) {
  return call(x, "aten::im2col",
              {x.tensor, kernel_size.dims(), dilation.dims(), padding.dims(), stride.dims()});
}
Tensor fold_image(Input x, Extent<2> output_size, Extent<2> kernel_size, Extent<2> dilation,
                  Extent<2> padding, Extent<2> stride) {
  return call(
      x, "aten::col2im",
      {x.tensor, output_size.dims(), kernel_size.dims(), dilation.dims(), padding.dims(), stride.dims()});
}

}  // namespace flambeau::nn
