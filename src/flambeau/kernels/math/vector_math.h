// Mathematical functions over contiguous arrays, as fast as the processor's vectors go. y may be x itself,
// and otherwise must not overlap it. float: within 2 ulp of the true value (tan 3), double within 3 ulp; NaN,
// infinities, signed zeros and subnormals as IEEE 754 and PyTorch have them. Formulas that are PyTorch's
// (sigmoid, silu, gelu) lose digits where PyTorch's do.
//
// Fast (vector code): everything over float; over double exp, expm1, log, log1p, sin, cos, tanh, erf, sqrt,
// rsqrt, sigmoid, log_sigmoid, silu, gelu, gelu_tanh, mish, softplus and the remainders. The rest is a call
// per element.
#pragma once

#include <cstddef>

namespace flambeau::kernels::vector_math {

#define FLAMBEAU_UNARY_MATH(name)                \
  void name(const float* x, float* y, size_t n); \
  void name(const double* x, double* y, size_t n);

FLAMBEAU_UNARY_MATH(exp)
FLAMBEAU_UNARY_MATH(exp2)
FLAMBEAU_UNARY_MATH(expm1)
FLAMBEAU_UNARY_MATH(log)
FLAMBEAU_UNARY_MATH(log2)
FLAMBEAU_UNARY_MATH(log10)
FLAMBEAU_UNARY_MATH(log1p)
FLAMBEAU_UNARY_MATH(sin)
FLAMBEAU_UNARY_MATH(cos)
FLAMBEAU_UNARY_MATH(tan)
FLAMBEAU_UNARY_MATH(asin)
FLAMBEAU_UNARY_MATH(acos)
FLAMBEAU_UNARY_MATH(atan)
FLAMBEAU_UNARY_MATH(sinh)
FLAMBEAU_UNARY_MATH(cosh)
FLAMBEAU_UNARY_MATH(tanh)
FLAMBEAU_UNARY_MATH(asinh)
FLAMBEAU_UNARY_MATH(acosh)
FLAMBEAU_UNARY_MATH(atanh)
FLAMBEAU_UNARY_MATH(erf)
FLAMBEAU_UNARY_MATH(erfc)
FLAMBEAU_UNARY_MATH(sqrt)
FLAMBEAU_UNARY_MATH(rsqrt)
FLAMBEAU_UNARY_MATH(sigmoid)      // 1 / (1 + exp(-x))
FLAMBEAU_UNARY_MATH(log_sigmoid)  // log(sigmoid(x))
FLAMBEAU_UNARY_MATH(silu)         // x sigmoid(x)
FLAMBEAU_UNARY_MATH(gelu)         // x (1 + erf(x / sqrt(2))) / 2
FLAMBEAU_UNARY_MATH(gelu_tanh)    // its approximation with tanh
FLAMBEAU_UNARY_MATH(mish)         // x tanh(softplus(x))
#undef FLAMBEAU_UNARY_MATH

// log(1 + exp(beta x)) / beta; x itself where beta x > threshold.
void softplus(const float* x, float* y, size_t n, double beta, double threshold);
void softplus(const double* x, double* y, size_t n, double beta, double threshold);

// Element by element; y may be either argument.
void pow(const float* x, const float* exponent, float* y, size_t n);
void pow(const double* x, const double* exponent, double* y, size_t n);
void atan2(const float* s, const float* c, float* y, size_t n);
void atan2(const double* s, const double* c, double* y, size_t n);
void hypot(const float* a, const float* b, float* y, size_t n);
void hypot(const double* a, const double* b, double* y, size_t n);

// To the last bit.
void fmod(const float* a, const float* b, float* y, size_t n);       // of the dividend's sign, as C's
void fmod(const double* a, const double* b, double* y, size_t n);    //
void remainder(const float* a, const float* b, float* y, size_t n);  // of the divisor's sign, as Python's
void remainder(const double* a, const double* b, double* y, size_t n);
void floor_quotient(const float* a, const float* b, float* y, size_t n);  // Python's //
void floor_quotient(const double* a, const double* b, double* y, size_t n);

}  // namespace flambeau::kernels::vector_math
