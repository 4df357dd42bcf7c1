// Initial values, drawn as torch.nn.init draws them: the same seed gives the same numbers. Each fills the
// tensor in place and runs past whoever traces.
#pragma once

#include <cstdint>
#include <string_view>

#include "flambeau/tensor/tensor.h"

namespace flambeau::nn::init {

// Memory for a parameter, with anything in it. Draws nothing.
Tensor empty(std::initializer_list<int64_t> sizes, DType dtype = DType::kFloat32);
Tensor empty(const Dims& sizes, DType dtype = DType::kFloat32);
Tensor zeros(const Dims& sizes, DType dtype = DType::kFloat32);
Tensor ones(const Dims& sizes, DType dtype = DType::kFloat32);

void uniform_(const Tensor& tensor, double from = 0, double to = 1);
void normal_(const Tensor& tensor, double mean = 0, double std = 1);
void constant_(const Tensor& tensor, double value);
void trunc_normal_(const Tensor& tensor, double mean = 0, double std = 1, double a = -2, double b = 2);

struct Fans {
  int64_t in;
  int64_t out;
};
// Throws Error(kInvalidArgument) for less than two dimensions.
Fans fans(const Tensor& tensor);
// "linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu". Throws Error(kInvalidArgument).
double calculate_gain(std::string_view nonlinearity, double param = 0.01);

enum class FanMode { kFanIn, kFanOut };
void kaiming_uniform_(const Tensor& tensor, double a = 0, FanMode mode = FanMode::kFanIn,
                      std::string_view nonlinearity = "leaky_relu");
void kaiming_normal_(const Tensor& tensor, double a = 0, FanMode mode = FanMode::kFanIn,
                     std::string_view nonlinearity = "leaky_relu");
void xavier_uniform_(const Tensor& tensor, double gain = 1);
void xavier_normal_(const Tensor& tensor, double gain = 1);

// A weight and a bias as linear layers and convolutions start with them.
void reset_affine(const Tensor& weight, const Tensor& bias);

}  // namespace flambeau::nn::init
