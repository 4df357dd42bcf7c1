#include "flambeau/kernels/math/vector_math.h"

#include <cmath>

#include "flambeau/kernels/math/vector_math_loops.h"

namespace flambeau::kernels::vector_math {

#define FLAMBEAU_PICKED_FLOAT(name) \
  void name(const float* x, float* y, size_t n) { FLAMBEAU_PICK(name##_float)(x, y, n); }
#define FLAMBEAU_PICKED_DOUBLE(name) \
  void name(const double* x, double* y, size_t n) { FLAMBEAU_PICK(name##_double)(x, y, n); }
FLAMBEAU_FLOAT_MATH(FLAMBEAU_PICKED_FLOAT)
FLAMBEAU_DOUBLE_MATH(FLAMBEAU_PICKED_DOUBLE)

#define FLAMBEAU_CALLED(name, T)                           \
  void name(const T* x, T* y, size_t n) {                  \
    for (size_t i = 0; i < n; ++i) y[i] = std::name(x[i]); \
  }
FLAMBEAU_CALLED(erfc, double)
FLAMBEAU_CALLED(exp2, double)
FLAMBEAU_CALLED(log2, double)
FLAMBEAU_CALLED(log10, double)
FLAMBEAU_CALLED(tan, double)
FLAMBEAU_CALLED(asin, double)
FLAMBEAU_CALLED(acos, double)
FLAMBEAU_CALLED(atan, double)
FLAMBEAU_CALLED(sinh, double)
FLAMBEAU_CALLED(cosh, double)
FLAMBEAU_CALLED(asinh, double)
FLAMBEAU_CALLED(acosh, double)
FLAMBEAU_CALLED(atanh, double)

void softplus(const float* x, float* y, size_t n, double beta, double threshold) {
  FLAMBEAU_PICK(softplus_float)(x, y, n, beta, threshold);
}
void softplus(const double* x, double* y, size_t n, double beta, double threshold) {
  FLAMBEAU_PICK(softplus_double)(x, y, n, beta, threshold);
}

void pow(const float* x, const float* exponent, float* y, size_t n) {
  FLAMBEAU_PICK(pow_float)(x, exponent, y, n);
}
void pow(const double* x, const double* exponent, double* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = std::pow(x[i], exponent[i]);
}
void atan2(const float* s, const float* c, float* y, size_t n) { FLAMBEAU_PICK(atan2_float)(s, c, y, n); }
void atan2(const double* s, const double* c, double* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = std::atan2(s[i], c[i]);
}
void hypot(const float* a, const float* b, float* y, size_t n) { FLAMBEAU_PICK(hypot_float)(a, b, y, n); }
void hypot(const double* a, const double* b, double* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = std::hypot(a[i], b[i]);
}

#define FLAMBEAU_RESTS(name)                                                                                 \
  void name(const float* a, const float* b, float* y, size_t n) { FLAMBEAU_PICK(name##_float)(a, b, y, n); } \
  void name(const double* a, const double* b, double* y, size_t n) {                                         \
    FLAMBEAU_PICK(name##_double)(a, b, y, n);                                                                \
  }
FLAMBEAU_RESTS(fmod)
FLAMBEAU_RESTS(remainder)
FLAMBEAU_RESTS(floor_quotient)
#undef FLAMBEAU_RESTS

}  // namespace flambeau::kernels::vector_math
