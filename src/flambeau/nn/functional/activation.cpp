#include "flambeau/nn/functional/activation.h"

namespace flambeau::nn {

Tensor relu(Input x) { return call(x, "aten::relu", {x.tensor}); }
Tensor relu_(Input x) { return call(x, "aten::relu_", {x.tensor}); }
Tensor selu(Input x) { return call(x, "aten::selu", {x.tensor}); }
Tensor selu_(Input x) { return call(x, "aten::selu_", {x.tensor}); }
Tensor silu(Input x) { return call(x, "aten::silu", {x.tensor}); }
Tensor silu_(Input x) { return call(x, "aten::silu_", {x.tensor}); }
Tensor mish(Input x) { return call(x, "aten::mish", {x.tensor}); }
Tensor mish_(Input x) { return call(x, "aten::mish_", {x.tensor}); }
Tensor hardswish(Input x) { return call(x, "aten::hardswish", {x.tensor}); }
Tensor hardswish_(Input x) { return call(x, "aten::hardswish_", {x.tensor}); }
Tensor hardsigmoid(Input x) { return call(x, "aten::hardsigmoid", {x.tensor}); }
Tensor hardsigmoid_(Input x) { return call(x, "aten::hardsigmoid_", {x.tensor}); }
Tensor sigmoid(Input x) { return call(x, "aten::sigmoid", {x.tensor}); }
Tensor sigmoid_(Input x) { return call(x, "aten::sigmoid_", {x.tensor}); }
Tensor tanh(Input x) { return call(x, "aten::tanh", {x.tensor}); }
Tensor tanh_(Input x) { return call(x, "aten::tanh_", {x.tensor}); }
Tensor relu6(Input x) { return call(x, "aten::hardtanh", {x.tensor, 0.0, 6.0}); }
Tensor relu6_(Input x) { return call(x, "aten::hardtanh_", {x.tensor, 0.0, 6.0}); }
Tensor elu(Input x, const Number& alpha) { return call(x, "aten::elu", {x.tensor, alpha.value()}); }
Tensor elu_(Input x, const Number& alpha) { return call(x, "aten::elu_", {x.tensor, alpha.value()}); }
Tensor celu(Input x, const Number& alpha) { return call(x, "aten::celu", {x.tensor, alpha.value()}); }
Tensor celu_(Input x, const Number& alpha) { return call(x, "aten::celu_", {x.tensor, alpha.value()}); }
Tensor leaky_relu(Input x, const Number& negative_slope) {
  return call(x, "aten::leaky_relu", {x.tensor, negative_slope.value()});
}
Tensor leaky_relu_(Input x, const Number& negative_slope) {
  return call(x, "aten::leaky_relu_", {x.tensor, negative_slope.value()});
}
Tensor hardtanh(Input x, const Number& min_val, const Number& max_val) {
  return call(x, "aten::hardtanh", {x.tensor, min_val.value(), max_val.value()});
}
Tensor hardtanh_(Input x, const Number& min_val, const Number& max_val) {
  return call(x, "aten::hardtanh_", {x.tensor, min_val.value(), max_val.value()});
}
Tensor threshold(Input x, const Number& threshold, const Number& value) {
  return call(x, "aten::threshold", {x.tensor, threshold.value(), value.value()});
}
Tensor threshold_(Input x, const Number& threshold, const Number& value) {
  return call(x, "aten::threshold_", {x.tensor, threshold.value(), value.value()});
}
Tensor rrelu(Input x, const Number& lower, const Number& upper, bool training) {
  return call(x, "aten::rrelu", {x.tensor, lower.value(), upper.value(), training});
}
Tensor rrelu_(Input x, const Number& lower, const Number& upper, bool training) {
  return call(x, "aten::rrelu_", {x.tensor, lower.value(), upper.value(), training});
}
Tensor gelu(Input x, std::string_view approximate) {
  return call(x, "aten::gelu", {x.tensor}, {{"approximate", Value(approximate)}});
}
Tensor softplus(Input x, const Number& beta, const Number& threshold) {
  return call(x, "aten::softplus", {x.tensor, beta.value(), threshold.value()});
}
Tensor hardshrink(Input x, const Number& lambd) {
  return call(x, "aten::hardshrink", {x.tensor, lambd.value()});
}
Tensor softshrink(Input x, const Number& lambd) {
  return call(x, "aten::softshrink", {x.tensor, lambd.value()});
}
Tensor logsigmoid(Input x) { return call(x, "aten::log_sigmoid", {x.tensor}); }
Tensor prelu(Input x, const Tensor& weight) { return call(x, "aten::prelu", {x.tensor, weight}); }
Tensor glu(Input x, int64_t dim) { return call(x, "aten::glu", {x.tensor, dim}); }
Tensor softmax(Input x, int64_t dim, std::optional<DType> dtype) {
  return call(x, "aten::softmax.int", {x.tensor, dim, dtype});
}
Tensor log_softmax(Input x, int64_t dim, std::optional<DType> dtype) {
  return call(x, "aten::log_softmax.int", {x.tensor, dim, dtype});
}
Tensor dropout(Input x, double p, bool training) { return call(x, "aten::dropout", {x.tensor, p, training}); }
Tensor dropout_(Input x, double p, bool training) {
  return call(x, "aten::dropout_", {x.tensor, p, training});
}
Tensor feature_dropout(Input x, double p, bool training) {
  return call(x, "aten::feature_dropout", {x.tensor, p, training});
}
Tensor feature_dropout_(Input x, double p, bool training) {
  return call(x, "aten::feature_dropout_", {x.tensor, p, training});
}
Tensor alpha_dropout(Input x, double p, bool training) {
  return call(x, "aten::alpha_dropout", {x.tensor, p, training});
}
Tensor alpha_dropout_(Input x, double p, bool training) {
  return call(x, "aten::alpha_dropout_", {x.tensor, p, training});
}
Tensor feature_alpha_dropout(Input x, double p, bool training) {
  return call(x, "aten::feature_alpha_dropout", {x.tensor, p, training});
}
Tensor feature_alpha_dropout_(Input x, double p, bool training) {
  return call(x, "aten::feature_alpha_dropout_", {x.tensor, p, training});
}

// As PyTorch composes them.
Tensor softmin(Input x, int64_t dim, std::optional<DType> dtype) {
  return call(x, "aten::softmax.int", {call(x, "aten::neg", {x.tensor}), dim, dtype});
}
Tensor softsign(Input x) {
  const Tensor scale = call(x, "aten::add.Tensor", {call(x, "aten::abs", {x.tensor}), 1});
  return call(x, "aten::div.Tensor", {x.tensor, scale});
}
Tensor tanhshrink(Input x) {
  return call(x, "aten::sub.Tensor", {x.tensor, call(x, "aten::tanh", {x.tensor})});
}

}  // namespace flambeau::nn
