// Natural expressions of tensors: x * 2 + y. They stand in Tensor's own namespace, where they are found
// wherever a tensor is.
#pragma once

#include "flambeau/nn/functional/elementwise.h"

namespace flambeau {

inline Tensor operator+(nn::Input a, const Tensor& b) { return nn::add(a, b); }
inline Tensor operator+(nn::Input a, const nn::Number& b) { return nn::add(a, b); }
inline Tensor operator+(const nn::Number& a, nn::Input b) { return nn::add(b, a); }
inline Tensor operator-(nn::Input a, const Tensor& b) { return nn::sub(a, b); }
inline Tensor operator-(nn::Input a, const nn::Number& b) { return nn::sub(a, b); }
inline Tensor operator-(const nn::Number& a, nn::Input b) { return nn::rsub(b, a); }
inline Tensor operator*(nn::Input a, const Tensor& b) { return nn::mul(a, b); }
inline Tensor operator*(nn::Input a, const nn::Number& b) { return nn::mul(a, b); }
inline Tensor operator*(const nn::Number& a, nn::Input b) { return nn::mul(b, a); }
inline Tensor operator/(nn::Input a, const Tensor& b) { return nn::div(a, b); }
inline Tensor operator/(nn::Input a, const nn::Number& b) { return nn::div(a, b); }
// As PyTorch does it: two operators.
inline Tensor operator/(const nn::Number& a, nn::Input b) { return nn::mul({nn::reciprocal(b), b.where}, a); }
inline Tensor operator-(nn::Input x) { return nn::neg(x); }
inline Tensor operator~(nn::Input x) { return nn::bitwise_not(x); }
inline Tensor operator&(nn::Input a, const Tensor& b) {
  return nn::call(a, "aten::__and__.Tensor", {a.tensor, b});
}
inline Tensor operator|(nn::Input a, const Tensor& b) {
  return nn::call(a, "aten::__or__.Tensor", {a.tensor, b});
}

}  // namespace flambeau
