// The hot loops of vector_math over float, and the few over double.
#include "flambeau/kernels/math/vector_math_core.h"
#include "flambeau/kernels/math/vector_math_loops.h"

namespace flambeau::kernels::vector_math::FLAMBEAU_ISA {
namespace {

template <typename T>
FLAMBEAU_INLINE T sqrt_of(T x) {
  return std::sqrt(x);
}
template <typename T>
FLAMBEAU_INLINE T rsqrt_of(T x) {
  return T(1) / std::sqrt(x);
}
template <typename T>
FLAMBEAU_INLINE T sigmoid_of(T x) {
  return T(1) / (T(1) + exp_of(-x));
}
template <typename T>
FLAMBEAU_INLINE T log_sigmoid_of(T x) {
  return (x < T(0) ? x : T(0)) - log1p_of(exp_of(-magnitude(x)));
}
template <typename T>
FLAMBEAU_INLINE T silu_of(T x) {
  return x / (T(1) + exp_of(-x));
}
FLAMBEAU_INLINE float gelu_of(float x) { return x * 0.5F * (1.0F + erf_beside_one(x * 0.707106781F)); }
FLAMBEAU_INLINE double gelu_of(double x) { return x * 0.5 * (1.0 + erf_of(x * 0.70710678118654752440)); }
template <typename T>
FLAMBEAU_INLINE T gelu_tanh_of(T x) {
  const T inner = T(0.79788456080286535588) * (x + T(0.044715) * (x * x * x));
  return T(0.5) * x * (T(1) + tanh_of(inner));
}
// x tanh(log(1 + e^x)) is x w / (w + 2) with w = e^x (e^x + 2).
template <typename T>
FLAMBEAU_INLINE T mish_of(T x) {
  const T e = exp_of(x > T(30) ? T(30) : x);
  const T w = e * (e + T(2));
  return x * (w / (w + T(2)));
}

// x and y may be the same array.
template <typename T, typename Function>
FLAMBEAU_INLINE void each(const T* x, T* y, size_t n, Function function) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) y[i] = function(x[i]);
}

}  // namespace

#define FLAMBEAU_LOOP(name, T)                       \
  void name##_##T(const T* x, T* y, size_t n) {      \
    each(x, y, n, [](T a) { return name##_of(a); }); \
  }

FLAMBEAU_LOOP(exp, float)
FLAMBEAU_LOOP(exp2, float)
FLAMBEAU_LOOP(expm1, float)
FLAMBEAU_LOOP(log, float)
FLAMBEAU_LOOP(log2, float)
FLAMBEAU_LOOP(log1p, float)
FLAMBEAU_LOOP(tanh, float)
FLAMBEAU_LOOP(erf, float)
FLAMBEAU_LOOP(sqrt, float)
FLAMBEAU_LOOP(rsqrt, float)
FLAMBEAU_LOOP(sigmoid, float)
FLAMBEAU_LOOP(log_sigmoid, float)
FLAMBEAU_LOOP(silu, float)
FLAMBEAU_LOOP(gelu, float)
FLAMBEAU_LOOP(gelu_tanh, float)
FLAMBEAU_LOOP(mish, float)

FLAMBEAU_LOOP(exp, double)
FLAMBEAU_LOOP(expm1, double)
FLAMBEAU_LOOP(log, double)
FLAMBEAU_LOOP(log1p, double)
FLAMBEAU_LOOP(tanh, double)
FLAMBEAU_LOOP(erf, double)
FLAMBEAU_LOOP(gelu, double)
FLAMBEAU_LOOP(sqrt, double)
FLAMBEAU_LOOP(rsqrt, double)
FLAMBEAU_LOOP(sigmoid, double)
FLAMBEAU_LOOP(log_sigmoid, double)
FLAMBEAU_LOOP(silu, double)
FLAMBEAU_LOOP(gelu_tanh, double)
FLAMBEAU_LOOP(mish, double)

}  // namespace flambeau::kernels::vector_math::FLAMBEAU_ISA
