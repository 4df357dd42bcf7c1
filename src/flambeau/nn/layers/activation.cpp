#include "flambeau/nn/layers/activation.h"

#include "flambeau/nn/functional/activation.h"
#include "flambeau/nn/functional/elementwise.h"
#include "flambeau/nn/init.h"

namespace flambeau::nn {

Tensor ReLU::forward(const Tensor& input) { return inplace_ ? relu_(input) : relu(input); }
Tensor ReLU6::forward(const Tensor& input) { return inplace_ ? relu6_(input) : relu6(input); }
Tensor SELU::forward(const Tensor& input) { return inplace_ ? selu_(input) : selu(input); }
Tensor SiLU::forward(const Tensor& input) { return inplace_ ? silu_(input) : silu(input); }
Tensor Mish::forward(const Tensor& input) { return inplace_ ? mish_(input) : mish(input); }
Tensor Hardswish::forward(const Tensor& input) { return inplace_ ? hardswish_(input) : hardswish(input); }
Tensor Hardsigmoid::forward(const Tensor& input) {
  return inplace_ ? hardsigmoid_(input) : hardsigmoid(input);
}
Tensor ELU::forward(const Tensor& input) { return inplace_ ? elu_(input, alpha_) : elu(input, alpha_); }
Tensor CELU::forward(const Tensor& input) { return inplace_ ? celu_(input, alpha_) : celu(input, alpha_); }
Tensor LeakyReLU::forward(const Tensor& input) {
  return inplace_ ? leaky_relu_(input, negative_slope_) : leaky_relu(input, negative_slope_);
}
Tensor Hardtanh::forward(const Tensor& input) {
  return inplace_ ? hardtanh_(input, min_val_, max_val_) : hardtanh(input, min_val_, max_val_);
}
Tensor Threshold::forward(const Tensor& input) {
  return inplace_ ? nn::threshold_(input, threshold_, value_) : nn::threshold(input, threshold_, value_);
}
Tensor RReLU::forward(const Tensor& input) {
  return inplace_ ? rrelu_(input, lower_, upper_, is_training())
                  : rrelu(input, lower_, upper_, is_training());
}
Tensor GELU::forward(const Tensor& input) { return gelu(input, approximate_); }
Tensor Sigmoid::forward(const Tensor& input) { return sigmoid(input); }
Tensor Tanh::forward(const Tensor& input) { return tanh(input); }
Tensor LogSigmoid::forward(const Tensor& input) { return logsigmoid(input); }
Tensor Softsign::forward(const Tensor& input) { return softsign(input); }
Tensor Tanhshrink::forward(const Tensor& input) { return tanhshrink(input); }
Tensor Softplus::forward(const Tensor& input) { return softplus(input, beta_, threshold_); }
Tensor Softshrink::forward(const Tensor& input) { return softshrink(input, lambd_); }
Tensor Hardshrink::forward(const Tensor& input) { return hardshrink(input, lambd_); }
Tensor GLU::forward(const Tensor& input) { return glu(input, dim_); }
Tensor Softmax::forward(const Tensor& input) { return softmax(input, dim_); }
Tensor LogSoftmax::forward(const Tensor& input) { return log_softmax(input, dim_); }
Tensor Softmin::forward(const Tensor& input) { return softmin(input, dim_); }
Tensor Softmax2d::forward(const Tensor& input) { return softmax(input, -3); }

PReLU::PReLU(int64_t num_parameters, double initial) : weight(init::empty({num_parameters})) {
  init::constant_(weight, initial);
  add_parameter("weight", weight);
}
Tensor PReLU::forward(const Tensor& input) { return prelu(input, weight); }

}  // namespace flambeau::nn
