#include "flambeau/nn/functional/norm.h"

namespace flambeau::nn {

Tensor batch_norm(Input x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, bool training, double momentum, double eps) {
  return call(x, "aten::batch_norm",
              {x.tensor, weight, bias, running_mean, running_var, training, momentum, eps, false});
}
Tensor instance_norm(Input x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias, bool use_input_stats, double momentum, double eps) {
  return call(x, "aten::instance_norm",
              {x.tensor, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, false});
}
Tensor layer_norm(Input x, const Sizes& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps) {
  return call(x, "aten::layer_norm", {x.tensor, ints_value(normalized_shape), weight, bias, eps, false});
}
Tensor group_norm(Input x, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps) {
  return call(x, "aten::group_norm", {x.tensor, num_groups, weight, bias, eps, false});
}
Tensor rms_norm(Input x, const Sizes& normalized_shape, const Tensor& weight, std::optional<double> eps) {
  return call(x, "aten::rms_norm", {x.tensor, ints_value(normalized_shape), weight, eps});
}

}  // namespace flambeau::nn
