// Activation functions, and dropout.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor relu(Input x);
Tensor relu_(Input x);
Tensor selu(Input x);
Tensor selu_(Input x);
Tensor silu(Input x);
Tensor silu_(Input x);
Tensor mish(Input x);
Tensor mish_(Input x);
Tensor hardswish(Input x);
Tensor hardswish_(Input x);
Tensor hardsigmoid(Input x);
Tensor hardsigmoid_(Input x);
Tensor sigmoid(Input x);
Tensor sigmoid_(Input x);
Tensor tanh(Input x);
Tensor tanh_(Input x);
Tensor relu6(Input x);
Tensor relu6_(Input x);
Tensor elu(Input x, const Number& alpha = 1.0);
Tensor elu_(Input x, const Number& alpha = 1.0);
Tensor celu(Input x, const Number& alpha = 1.0);
Tensor celu_(Input x, const Number& alpha = 1.0);
Tensor leaky_relu(Input x, const Number& negative_slope = 0.01);
Tensor leaky_relu_(Input x, const Number& negative_slope = 0.01);
Tensor hardtanh(Input x, const Number& min_val = -1.0, const Number& max_val = 1.0);
Tensor hardtanh_(Input x, const Number& min_val = -1.0, const Number& max_val = 1.0);
Tensor threshold(Input x, const Number& threshold, const Number& value);
Tensor threshold_(Input x, const Number& threshold, const Number& value);
Tensor rrelu(Input x, const Number& lower = 1.0 / 8, const Number& upper = 1.0 / 3, bool training = false);
Tensor rrelu_(Input x, const Number& lower = 1.0 / 8, const Number& upper = 1.0 / 3, bool training = false);
// `approximate`: "none" or "tanh".
Tensor gelu(Input x, std::string_view approximate = "none");
Tensor softplus(Input x, const Number& beta = 1, const Number& threshold = 20);
Tensor hardshrink(Input x, const Number& lambd = 0.5);
Tensor softshrink(Input x, const Number& lambd = 0.5);
Tensor logsigmoid(Input x);
Tensor prelu(Input x, const Tensor& weight);
Tensor glu(Input x, int64_t dim = -1);
Tensor softmax(Input x, int64_t dim, std::optional<DType> dtype = {});
Tensor log_softmax(Input x, int64_t dim, std::optional<DType> dtype = {});
Tensor softmin(Input x, int64_t dim, std::optional<DType> dtype = {});
Tensor softsign(Input x);
Tensor tanhshrink(Input x);

Tensor dropout(Input x, double p = 0.5, bool training = true);
Tensor dropout_(Input x, double p = 0.5, bool training = true);
Tensor feature_dropout(Input x, double p = 0.5, bool training = true);
Tensor feature_dropout_(Input x, double p = 0.5, bool training = true);
Tensor alpha_dropout(Input x, double p = 0.5, bool training = false);
Tensor alpha_dropout_(Input x, double p = 0.5, bool training = false);
Tensor feature_alpha_dropout(Input x, double p = 0.5, bool training = false);
Tensor feature_alpha_dropout_(Input x, double p = 0.5, bool training = false);

}  // namespace flambeau::nn
