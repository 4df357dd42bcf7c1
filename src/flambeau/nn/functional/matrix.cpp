#include "flambeau/nn/functional/matrix.h"

namespace flambeau::nn {

Tensor linear(Input x, const Tensor& weight, const Tensor& bias) {
  return call(x, "aten::linear", {x.tensor, weight, bias});
}
Tensor bilinear(Input x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
  return call(x1, "aten::bilinear", {x1.tensor, x2, weight, bias});
}
Tensor matmul(Input a, const Tensor& b) { return call(a, "aten::matmul", {a.tensor, b}); }
Tensor mm(Input a, const Tensor& b) { return call(a, "aten::mm", {a.tensor, b}); }
Tensor bmm(Input a, const Tensor& b) { return call(a, "aten::bmm", {a.tensor, b}); }
Tensor mv(Input a, const Tensor& b) { return call(a, "aten::mv", {a.tensor, b}); }
Tensor dot(Input a, const Tensor& b) { return call(a, "aten::dot", {a.tensor, b}); }
Tensor outer(Input a, const Tensor& b) { return call(a, "aten::outer", {a.tensor, b}); }
Tensor addmm(Input x, const Tensor& a, const Tensor& b, const Number& beta, const Number& alpha) {
  return call(x, "aten::addmm", {x.tensor, a, b}, {{"beta", beta.value()}, {"alpha", alpha.value()}});
}
Tensor baddbmm(Input x, const Tensor& a, const Tensor& b, const Number& beta, const Number& alpha) {
  return call(x, "aten::baddbmm", {x.tensor, a, b}, {{"beta", beta.value()}, {"alpha", alpha.value()}});
}
Tensor cdist(Input a, const Tensor& b, double p) { return call(a, "aten::cdist", {a.tensor, b, p}); }

Tensor einsum(std::string_view equation, const TensorList& operands, std::source_location where) {
  return call(where, "aten::einsum", {equation, operands});
}

}  // namespace flambeau::nn
