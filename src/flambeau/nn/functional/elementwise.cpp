#include "flambeau/nn/functional/elementwise.h"

namespace flambeau::nn {

Tensor abs(Input x) { return call(x, "aten::abs", {x.tensor}); }
Tensor neg(Input x) { return call(x, "aten::neg", {x.tensor}); }
Tensor exp(Input x) { return call(x, "aten::exp", {x.tensor}); }
Tensor exp2(Input x) { return call(x, "aten::exp2", {x.tensor}); }
Tensor expm1(Input x) { return call(x, "aten::expm1", {x.tensor}); }
Tensor log(Input x) { return call(x, "aten::log", {x.tensor}); }
Tensor log2(Input x) { return call(x, "aten::log2", {x.tensor}); }
Tensor log10(Input x) { return call(x, "aten::log10", {x.tensor}); }
Tensor log1p(Input x) { return call(x, "aten::log1p", {x.tensor}); }
Tensor sqrt(Input x) { return call(x, "aten::sqrt", {x.tensor}); }
Tensor rsqrt(Input x) { return call(x, "aten::rsqrt", {x.tensor}); }
Tensor sin(Input x) { return call(x, "aten::sin", {x.tensor}); }
Tensor cos(Input x) { return call(x, "aten::cos", {x.tensor}); }
Tensor tan(Input x) { return call(x, "aten::tan", {x.tensor}); }
Tensor asin(Input x) { return call(x, "aten::asin", {x.tensor}); }
Tensor acos(Input x) { return call(x, "aten::acos", {x.tensor}); }
Tensor atan(Input x) { return call(x, "aten::atan", {x.tensor}); }
Tensor sinh(Input x) { return call(x, "aten::sinh", {x.tensor}); }
Tensor cosh(Input x) { return call(x, "aten::cosh", {x.tensor}); }
Tensor asinh(Input x) { return call(x, "aten::asinh", {x.tensor}); }
Tensor acosh(Input x) { return call(x, "aten::acosh", {x.tensor}); }
Tensor atanh(Input x) { return call(x, "aten::atanh", {x.tensor}); }
Tensor erf(Input x) { return call(x, "aten::erf", {x.tensor}); }
Tensor erfc(Input x) { return call(x, "aten::erfc", {x.tensor}); }
Tensor erfinv(Input x) { return call(x, "aten::erfinv", {x.tensor}); }
Tensor floor(Input x) { return call(x, "aten::floor", {x.tensor}); }
Tensor ceil(Input x) { return call(x, "aten::ceil", {x.tensor}); }
Tensor round(Input x) { return call(x, "aten::round", {x.tensor}); }
Tensor trunc(Input x) { return call(x, "aten::trunc", {x.tensor}); }
Tensor frac(Input x) { return call(x, "aten::frac", {x.tensor}); }
Tensor sign(Input x) { return call(x, "aten::sign", {x.tensor}); }
Tensor reciprocal(Input x) { return call(x, "aten::reciprocal", {x.tensor}); }
Tensor square(Input x) { return call(x, "aten::square", {x.tensor}); }
Tensor isnan(Input x) { return call(x, "aten::isnan", {x.tensor}); }
Tensor isinf(Input x) { return call(x, "aten::isinf", {x.tensor}); }
Tensor isfinite(Input x) { return call(x, "aten::isfinite", {x.tensor}); }
Tensor logical_not(Input x) { return call(x, "aten::logical_not", {x.tensor}); }
Tensor bitwise_not(Input x) { return call(x, "aten::bitwise_not", {x.tensor}); }
Tensor real(Input x) { return call(x, "aten::real", {x.tensor}); }
Tensor imag(Input x) { return call(x, "aten::imag", {x.tensor}); }
Tensor angle(Input x) { return call(x, "aten::angle", {x.tensor}); }
Tensor conj(Input x) { return call(x, "aten::conj", {x.tensor}); }
Tensor add(Input a, const Tensor& b, const Number& alpha) {
  return call(a, "aten::add.Tensor", {a.tensor, b}, {{"alpha", alpha.value()}});
}
Tensor add(Input a, const Number& b, const Number& alpha) {
  return call(a, "aten::add.Tensor", {a.tensor, b.value()}, {{"alpha", alpha.value()}});
}
Tensor sub(Input a, const Tensor& b, const Number& alpha) {
  return call(a, "aten::sub.Tensor", {a.tensor, b}, {{"alpha", alpha.value()}});
}
Tensor sub(Input a, const Number& b, const Number& alpha) {
  return call(a, "aten::sub.Tensor", {a.tensor, b.value()}, {{"alpha", alpha.value()}});
}
Tensor mul(Input a, const Tensor& b) { return call(a, "aten::mul.Tensor", {a.tensor, b}); }
Tensor mul(Input a, const Number& b) { return call(a, "aten::mul.Tensor", {a.tensor, b.value()}); }
Tensor div(Input a, const Tensor& b) { return call(a, "aten::div.Tensor", {a.tensor, b}); }
Tensor div(Input a, const Number& b) { return call(a, "aten::div.Tensor", {a.tensor, b.value()}); }
Tensor div(Input a, const Tensor& b, std::string_view rounding_mode) {
  return call(a, "aten::div.Tensor_mode", {a.tensor, b}, {{"rounding_mode", Value(rounding_mode)}});
}
Tensor div(Input a, const Number& b, std::string_view rounding_mode) {
  return call(a, "aten::div.Tensor_mode", {a.tensor, b.value()}, {{"rounding_mode", Value(rounding_mode)}});
}
Tensor rsub(Input a, const Number& b) { return call(a, "aten::rsub.Scalar", {a.tensor, b.value()}); }
Tensor floor_divide(Input a, const Tensor& b) { return call(a, "aten::floor_divide", {a.tensor, b}); }
Tensor floor_divide(Input a, const Number& b) { return call(a, "aten::floor_divide", {a.tensor, b.value()}); }
Tensor remainder(Input a, const Tensor& b) { return call(a, "aten::remainder.Tensor", {a.tensor, b}); }
Tensor remainder(Input a, const Number& b) {
  return call(a, "aten::remainder.Scalar", {a.tensor, b.value()});
}
Tensor fmod(Input a, const Tensor& b) { return call(a, "aten::fmod.Tensor", {a.tensor, b}); }
Tensor fmod(Input a, const Number& b) { return call(a, "aten::fmod.Scalar", {a.tensor, b.value()}); }
Tensor pow(Input a, const Tensor& exponent) {
  return call(a, "aten::pow.Tensor_Tensor", {a.tensor, exponent});
}
Tensor pow(Input a, const Number& exponent) {
  return call(a, "aten::pow.Tensor_Scalar", {a.tensor, exponent.value()});
}
Tensor pow(const Number& base, Input exponent) {
  return call(exponent, "aten::pow.Scalar", {base.value(), exponent.tensor});
}
Tensor maximum(Input a, const Tensor& b) { return call(a, "aten::maximum", {a.tensor, b}); }
Tensor minimum(Input a, const Tensor& b) { return call(a, "aten::minimum", {a.tensor, b}); }
Tensor atan2(Input a, const Tensor& b) { return call(a, "aten::atan2", {a.tensor, b}); }
Tensor logical_and(Input a, const Tensor& b) { return call(a, "aten::logical_and", {a.tensor, b}); }
Tensor logical_or(Input a, const Tensor& b) { return call(a, "aten::logical_or", {a.tensor, b}); }
Tensor logical_xor(Input a, const Tensor& b) { return call(a, "aten::logical_xor", {a.tensor, b}); }
Tensor eq(Input a, const Tensor& b) { return call(a, "aten::eq.Tensor", {a.tensor, b}); }
Tensor eq(Input a, const Number& b) { return call(a, "aten::eq.Scalar", {a.tensor, b.value()}); }
Tensor ne(Input a, const Tensor& b) { return call(a, "aten::ne.Tensor", {a.tensor, b}); }
Tensor ne(Input a, const Number& b) { return call(a, "aten::ne.Scalar", {a.tensor, b.value()}); }
Tensor lt(Input a, const Tensor& b) { return call(a, "aten::lt.Tensor", {a.tensor, b}); }
Tensor lt(Input a, const Number& b) { return call(a, "aten::lt.Scalar", {a.tensor, b.value()}); }
Tensor le(Input a, const Tensor& b) { return call(a, "aten::le.Tensor", {a.tensor, b}); }
Tensor le(Input a, const Number& b) { return call(a, "aten::le.Scalar", {a.tensor, b.value()}); }
Tensor gt(Input a, const Tensor& b) { return call(a, "aten::gt.Tensor", {a.tensor, b}); }
Tensor gt(Input a, const Number& b) { return call(a, "aten::gt.Scalar", {a.tensor, b.value()}); }
Tensor ge(Input a, const Tensor& b) { return call(a, "aten::ge.Tensor", {a.tensor, b}); }
Tensor ge(Input a, const Number& b) { return call(a, "aten::ge.Scalar", {a.tensor, b.value()}); }
Tensor clamp(Input x, const std::optional<Number>& min, const std::optional<Number>& max) {
  return call(x, "aten::clamp", {x.tensor, min ? min->value() : Value(), max ? max->value() : Value()});
}
Tensor clamp_min(Input x, const Number& min) { return call(x, "aten::clamp_min", {x.tensor, min.value()}); }
Tensor clamp_max(Input x, const Number& max) { return call(x, "aten::clamp_max", {x.tensor, max.value()}); }
Tensor where(Input condition, const Tensor& x, const Tensor& other) {
  return call(condition, "aten::where.self", {condition.tensor, x, other});
}
Tensor where(Input condition, const Tensor& x, const Number& other) {
  return call(condition, "aten::where.ScalarOther", {condition.tensor, x, other.value()});
}
Tensor where(Input condition, const Number& x, const Tensor& other) {
  return call(condition, "aten::where.ScalarSelf", {condition.tensor, x.value(), other});
}
Tensor lerp(Input a, const Tensor& b, const Number& weight) {
  return call(a, "aten::lerp.Scalar", {a.tensor, b, weight.value()});
}
Tensor addcmul(Input x, const Tensor& a, const Tensor& b, const Number& value) {
  return call(x, "aten::addcmul", {x.tensor, a, b}, {{"value", value.value()}});
}
Tensor addcdiv(Input x, const Tensor& a, const Tensor& b, const Number& value) {
  return call(x, "aten::addcdiv", {x.tensor, a, b}, {{"value", value.value()}});
}
Tensor masked_fill(Input x, const Tensor& mask, const Number& value) {
  return call(x, "aten::masked_fill.Scalar", {x.tensor, mask, value.value()});
}
Tensor masked_fill(Input x, const Tensor& mask, const Tensor& value) {
  return call(x, "aten::masked_fill.Tensor", {x.tensor, mask, value});
}
Tensor complex(Input real, const Tensor& imag) { return call(real, "aten::complex", {real.tensor, imag}); }
Tensor polar(Input abs, const Tensor& angle) { return call(abs, "aten::polar", {abs.tensor, angle}); }
Tensor view_as_complex(Input x) { return call(x, "aten::view_as_complex", {x.tensor}); }
Tensor view_as_real(Input x) { return call(x, "aten::view_as_real", {x.tensor}); }
Tensor add_(Input a, const Tensor& b) { return call(a, "aten::add_.Tensor", {a.tensor, b}); }
Tensor add_(Input a, const Number& b) { return call(a, "aten::add_.Tensor", {a.tensor, b.value()}); }
Tensor sub_(Input a, const Tensor& b) { return call(a, "aten::sub_.Tensor", {a.tensor, b}); }
Tensor sub_(Input a, const Number& b) { return call(a, "aten::sub_.Tensor", {a.tensor, b.value()}); }
Tensor mul_(Input a, const Tensor& b) { return call(a, "aten::mul_.Tensor", {a.tensor, b}); }
Tensor mul_(Input a, const Number& b) { return call(a, "aten::mul_.Tensor", {a.tensor, b.value()}); }
Tensor div_(Input a, const Tensor& b) { return call(a, "aten::div_.Tensor", {a.tensor, b}); }
Tensor div_(Input a, const Number& b) { return call(a, "aten::div_.Tensor", {a.tensor, b.value()}); }
Tensor copy_(Input x, const Tensor& from) { return call(x, "aten::copy_", {x.tensor, from}); }
Tensor fill_(Input x, const Number& value) {
  return call(x, "aten::fill_.Scalar", {x.tensor, value.value()});
}
Tensor zero_(Input x) { return call(x, "aten::zero_", {x.tensor}); }
Tensor clamp_(Input x, const std::optional<Number>& min, const std::optional<Number>& max) {
  return call(x, "aten::clamp_", {x.tensor, min ? min->value() : Value(), max ? max->value() : Value()});
}
Tensor masked_fill_(Input x, const Tensor& mask, const Number& value) {
  return call(x, "aten::masked_fill_.Scalar", {x.tensor, mask, value.value()});
}

}  // namespace flambeau::nn
