// The loops of vector_math that exist once for each instruction set; vector_math.cpp picks among them.
#pragma once

#include <cstddef>

#include "flambeau/base/isa.h"

// The functions of one argument with loops of their own.
// clang-format off: it cannot decide where these lines end
#define FLAMBEAU_FLOAT_MATH(X) \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(atan) X(asin) \
  X(acos) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(sqrt) X(rsqrt) \
  X(sigmoid) X(log_sigmoid) X(silu) X(gelu) X(gelu_tanh) X(mish)
// clang-format on
#define FLAMBEAU_DOUBLE_MATH(X) \
  X(exp)                        \
  X(expm1)                      \
  X(log)                        \
  X(log1p)                      \
  X(sin) X(cos) X(tanh) X(erf) X(gelu) X(sqrt) X(rsqrt) X(sigmoid) X(log_sigmoid) X(silu) X(gelu_tanh) X(mish)

namespace flambeau::kernels::vector_math {

#define FLAMBEAU_DECLARE_FLOAT(name) void name##_float(const float* x, float* y, size_t n);
#define FLAMBEAU_DECLARE_DOUBLE(name) void name##_double(const double* x, double* y, size_t n);
#define FLAMBEAU_DECLARE(isa)                                                                \
  namespace isa {                                                                            \
  FLAMBEAU_FLOAT_MATH(FLAMBEAU_DECLARE_FLOAT)                                                \
  FLAMBEAU_DOUBLE_MATH(FLAMBEAU_DECLARE_DOUBLE)                                              \
  void softplus_float(const float* x, float* y, size_t n, double beta, double threshold);    \
  void softplus_double(const double* x, double* y, size_t n, double beta, double threshold); \
  void pow_float(const float* x, const float* exponent, float* y, size_t n);                 \
  void hypot_float(const float* x, const float* z, float* y, size_t n);                      \
  void atan2_float(const float* s, const float* c, float* y, size_t n);                      \
  void fmod_float(const float* a, const float* b, float* y, size_t n);                       \
  void fmod_double(const double* a, const double* b, double* y, size_t n);                   \
  void remainder_float(const float* a, const float* b, float* y, size_t n);                  \
  void remainder_double(const double* a, const double* b, double* y, size_t n);              \
  void floor_quotient_float(const float* a, const float* b, float* y, size_t n);             \
  void floor_quotient_double(const double* a, const double* b, double* y, size_t n);         \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE
#undef FLAMBEAU_DECLARE_DOUBLE
#undef FLAMBEAU_DECLARE_FLOAT

}  // namespace flambeau::kernels::vector_math
