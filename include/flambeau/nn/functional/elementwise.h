// Arithmetic, comparisons and functions of numbers, element by element.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

// One number for each element.
Tensor abs(Input x);
Tensor neg(Input x);
Tensor exp(Input x);
Tensor exp2(Input x);
Tensor expm1(Input x);
Tensor log(Input x);
Tensor log2(Input x);
Tensor log10(Input x);
Tensor log1p(Input x);
Tensor sqrt(Input x);
Tensor rsqrt(Input x);
Tensor sin(Input x);
Tensor cos(Input x);
Tensor tan(Input x);
Tensor asin(Input x);
Tensor acos(Input x);
Tensor atan(Input x);
Tensor sinh(Input x);
Tensor cosh(Input x);
Tensor asinh(Input x);
Tensor acosh(Input x);
Tensor atanh(Input x);
Tensor erf(Input x);
Tensor erfc(Input x);
Tensor erfinv(Input x);
Tensor floor(Input x);
Tensor ceil(Input x);
Tensor round(Input x);
Tensor trunc(Input x);
Tensor frac(Input x);
Tensor sign(Input x);
Tensor reciprocal(Input x);
Tensor square(Input x);
Tensor isnan(Input x);
Tensor isinf(Input x);
Tensor isfinite(Input x);
Tensor logical_not(Input x);
Tensor bitwise_not(Input x);
Tensor real(Input x);
Tensor imag(Input x);
Tensor angle(Input x);
Tensor conj(Input x);

// Of two tensors, which are broadcast, or a tensor and a number.
Tensor add(Input a, const Tensor& b, const Number& alpha = 1);
Tensor add(Input a, const Number& b, const Number& alpha = 1);
Tensor sub(Input a, const Tensor& b, const Number& alpha = 1);
Tensor sub(Input a, const Number& b, const Number& alpha = 1);
Tensor mul(Input a, const Tensor& b);
Tensor mul(Input a, const Number& b);
Tensor div(Input a, const Tensor& b);
Tensor div(Input a, const Number& b);
// `rounding_mode`: "trunc" or "floor".
Tensor div(Input a, const Tensor& b, std::string_view rounding_mode);
Tensor div(Input a, const Number& b, std::string_view rounding_mode);
// Number minus tensor.
Tensor rsub(Input a, const Number& b);
Tensor floor_divide(Input a, const Tensor& b);
Tensor floor_divide(Input a, const Number& b);
Tensor remainder(Input a, const Tensor& b);
Tensor remainder(Input a, const Number& b);
Tensor fmod(Input a, const Tensor& b);
Tensor fmod(Input a, const Number& b);
Tensor pow(Input a, const Tensor& exponent);
Tensor pow(Input a, const Number& exponent);
Tensor pow(const Number& base, Input exponent);
Tensor maximum(Input a, const Tensor& b);
Tensor minimum(Input a, const Tensor& b);
Tensor atan2(Input a, const Tensor& b);
Tensor logical_and(Input a, const Tensor& b);
Tensor logical_or(Input a, const Tensor& b);
Tensor logical_xor(Input a, const Tensor& b);
Tensor eq(Input a, const Tensor& b);
Tensor eq(Input a, const Number& b);
Tensor ne(Input a, const Tensor& b);
Tensor ne(Input a, const Number& b);
Tensor lt(Input a, const Tensor& b);
Tensor lt(Input a, const Number& b);
Tensor le(Input a, const Tensor& b);
Tensor le(Input a, const Number& b);
Tensor gt(Input a, const Tensor& b);
Tensor gt(Input a, const Number& b);
Tensor ge(Input a, const Tensor& b);
Tensor ge(Input a, const Number& b);

Tensor clamp(Input x, const std::optional<Number>& min = {}, const std::optional<Number>& max = {});
Tensor clamp_min(Input x, const Number& min);
Tensor clamp_max(Input x, const Number& max);
Tensor where(Input condition, const Tensor& x, const Tensor& other);
Tensor where(Input condition, const Tensor& x, const Number& other);
Tensor where(Input condition, const Number& x, const Tensor& other);
Tensor lerp(Input a, const Tensor& b, const Number& weight);
Tensor addcmul(Input x, const Tensor& a, const Tensor& b, const Number& value = 1);
Tensor addcdiv(Input x, const Tensor& a, const Tensor& b, const Number& value = 1);
Tensor masked_fill(Input x, const Tensor& mask, const Number& value);
Tensor masked_fill(Input x, const Tensor& mask, const Tensor& value);
Tensor complex(Input real, const Tensor& imag);
Tensor polar(Input abs, const Tensor& angle);
Tensor view_as_complex(Input x);
Tensor view_as_real(Input x);

// In place: the tensor itself is changed, and given back.
Tensor add_(Input a, const Tensor& b);
Tensor add_(Input a, const Number& b);
Tensor sub_(Input a, const Tensor& b);
Tensor sub_(Input a, const Number& b);
Tensor mul_(Input a, const Tensor& b);
Tensor mul_(Input a, const Number& b);
Tensor div_(Input a, const Tensor& b);
Tensor div_(Input a, const Number& b);
Tensor copy_(Input x, const Tensor& from);
Tensor fill_(Input x, const Number& value);
Tensor zero_(Input x);
Tensor clamp_(Input x, const std::optional<Number>& min = {}, const std::optional<Number>& max = {});
Tensor masked_fill_(Input x, const Tensor& mask, const Number& value);

}  // namespace flambeau::nn
