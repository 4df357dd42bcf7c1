// Products of matrices.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor linear(Input x, const Tensor& weight, const Tensor& bias = {});
Tensor bilinear(Input x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {});
Tensor matmul(Input a, const Tensor& b);
Tensor mm(Input a, const Tensor& b);
Tensor bmm(Input a, const Tensor& b);
Tensor mv(Input a, const Tensor& b);
Tensor dot(Input a, const Tensor& b);
Tensor outer(Input a, const Tensor& b);
Tensor addmm(Input x, const Tensor& a, const Tensor& b, const Number& beta = 1, const Number& alpha = 1);
Tensor baddbmm(Input x, const Tensor& a, const Tensor& b, const Number& beta = 1, const Number& alpha = 1);
Tensor cdist(Input a, const Tensor& b, double p = 2.0);
Tensor einsum(std::string_view equation, const TensorList& operands,
              std::source_location where = std::source_location::current());

}  // namespace flambeau::nn
