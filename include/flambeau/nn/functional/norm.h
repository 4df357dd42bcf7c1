// Normalization.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor batch_norm(Input x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight = {},
                  const Tensor& bias = {}, bool training = false, double momentum = 0.1, double eps = 1e-5);
Tensor instance_norm(Input x, const Tensor& running_mean = {}, const Tensor& running_var = {},
                     const Tensor& weight = {}, const Tensor& bias = {}, bool use_input_stats = true,
                     double momentum = 0.1, double eps = 1e-5);
Tensor layer_norm(Input x, const Sizes& normalized_shape, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
Tensor group_norm(Input x, int64_t num_groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
Tensor rms_norm(Input x, const Sizes& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = {});

}  // namespace flambeau::nn
