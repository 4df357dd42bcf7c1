#include "flambeau/nn/functional/pooling.h"

namespace flambeau::nn {

Tensor max_pool1d(Input x, Extent<1> kernel_size, const std::optional<Extent<1>>& stride, Extent<1> padding,
                  Extent<1> dilation, bool ceil_mode) {
  return call(x, "aten::max_pool1d",
              {x.tensor, kernel_size.dims(), stride ? stride->dims() : Dims(), padding.dims(),
               dilation.dims(), ceil_mode});
}
Tensor max_pool2d(Input x, Extent<2> kernel_size, const std::optional<Extent<2>>& stride, Extent<2> padding,
                  Extent<2> dilation, bool ceil_mode) {
  return call(x, "aten::max_pool2d",
              {x.tensor, kernel_size.dims(), stride ? stride->dims() : Dims(), padding.dims(),
               dilation.dims(), ceil_mode});
}
Tensor max_pool3d(Input x, Extent<3> kernel_size, const std::optional<Extent<3>>& stride, Extent<3> padding,
                  Extent<3> dilation, bool ceil_mode) {
  return call(x, "aten::max_pool3d",
              {x.tensor, kernel_size.dims(), stride ? stride->dims() : Dims(), padding.dims(),
               dilation.dims(), ceil_mode});
}
std::pair<Tensor, Tensor> max_pool1d_with_indices(Input x, Extent<1> kernel_size,
                                                  const std::optional<Extent<1>>& stride, Extent<1> padding,
                                                  Extent<1> dilation, bool ceil_mode) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::max_pool1d_with_indices",
                                         {x.tensor, kernel_size.dims(), stride ? stride->dims() : Dims(),
                                          padding.dims(), dilation.dims(), ceil_mode});
}
std::pair<Tensor, Tensor> max_pool2d_with_indices(Input x, Extent<2> kernel_size,
                                                  const std::optional<Extent<2>>& stride, Extent<2> padding,
                                                  Extent<2> dilation, bool ceil_mode) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::max_pool2d_with_indices",
                                         {x.tensor, kernel_size.dims(), stride ? stride->dims() : Dims(),
                                          padding.dims(), dilation.dims(), ceil_mode});
}
std::pair<Tensor, Tensor> max_pool3d_with_indices(Input x, Extent<3> kernel_size,
                                                  const std::optional<Extent<3>>& stride, Extent<3> padding,
                                                  Extent<3> dilation, bool ceil_mode) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::max_pool3d_with_indices",
                                         {x.tensor, kernel_size.dims(), stride ? stride->dims() : Dims(),
                                          padding.dims(), dilation.dims(), ceil_mode});
}
Tensor avg_pool1d(Input x, Extent<1> kernel_size, const std::optional<Extent<1>>& stride, Extent<1> padding,
                  bool ceil_mode, bool count_include_pad) {
  return call(x, "aten::avg_pool1d",
              {x.tensor, kernel_size.dims(), stride ? stride->dims() : Dims(), padding.dims(), ceil_mode,
               count_include_pad});
}
Tensor avg_pool2d(Input x, Extent<2> kernel_size, const std::optional<Extent<2>>& stride, Extent<2> padding,
                  bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  return call(x, "aten::avg_pool2d",
              {x.tensor, kernel_size.dims(), stride ? stride->dims() : Dims(), padding.dims(), ceil_mode,
               count_include_pad, divisor_override});
}
Tensor avg_pool3d(Input x, Extent<3> kernel_size, const std::optional<Extent<3>>& stride, Extent<3> padding,
                  bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  return call(x, "aten::avg_pool3d",
              {x.tensor, kernel_size.dims(), stride ? stride->dims() : Dims(), padding.dims(), ceil_mode,
               count_include_pad, divisor_override});
}
Tensor adaptive_avg_pool1d(Input x, const Sizes& output_size) {
  return call(x, "aten::adaptive_avg_pool1d", {x.tensor, ints_value(output_size)});
}
Tensor adaptive_avg_pool2d(Input x, const Sizes& output_size) {
  return call(x, "aten::adaptive_avg_pool2d", {x.tensor, ints_value(output_size)});
}
Tensor adaptive_avg_pool3d(Input x, const Sizes& output_size) {
  return call(x, "aten::adaptive_avg_pool3d", {x.tensor, ints_value(output_size)});
}
std::pair<Tensor, Tensor> adaptive_max_pool1d(Input x, const Sizes& output_size) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::adaptive_max_pool1d", {x.tensor, ints_value(output_size)});
}
std::pair<Tensor, Tensor> adaptive_max_pool2d(Input x, const Sizes& output_size) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::adaptive_max_pool2d", {x.tensor, ints_value(output_size)});
}
std::pair<Tensor, Tensor> adaptive_max_pool3d(Input x, const Sizes& output_size) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::adaptive_max_pool3d", {x.tensor, ints_value(output_size)});
}

}  // namespace flambeau::nn
