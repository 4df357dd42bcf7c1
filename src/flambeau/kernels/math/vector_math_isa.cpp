// The hot loops of vector_math over float, and the few over double.
#include "flambeau/kernels/math/vector_math_core.h"
#include "flambeau/kernels/math/vector_math_loops.h"

namespace flambeau::kernels::vector_math::FLAMBEAU_ISA {
namespace {

// x and y may be the same array.
template <typename T, typename Function>
FLAMBEAU_INLINE void each(const T* x, T* y, size_t n, Function function) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) y[i] = function(x[i]);
}

}  // namespace

#define FLAMBEAU_LOOP(name, T, suffix)                        \
  void name##_##T(const T* x, T* y, size_t n) {               \
    each(x, y, n, [](T a) { return name##_of_##suffix(a); }); \
  }

FLAMBEAU_LOOP(exp, float, f)
FLAMBEAU_LOOP(exp2, float, f)
FLAMBEAU_LOOP(expm1, float, f)
FLAMBEAU_LOOP(log, float, f)
FLAMBEAU_LOOP(log2, float, f)
FLAMBEAU_LOOP(log1p, float, f)
FLAMBEAU_LOOP(tanh, float, f)
FLAMBEAU_LOOP(erf, float, f)
FLAMBEAU_LOOP(sqrt, float, f)
FLAMBEAU_LOOP(rsqrt, float, f)
FLAMBEAU_LOOP(sigmoid, float, f)
FLAMBEAU_LOOP(log_sigmoid, float, f)
FLAMBEAU_LOOP(silu, float, f)
FLAMBEAU_LOOP(gelu, float, f)
FLAMBEAU_LOOP(gelu_tanh, float, f)
FLAMBEAU_LOOP(mish, float, f)

FLAMBEAU_LOOP(exp, double, d)
FLAMBEAU_LOOP(expm1, double, d)
FLAMBEAU_LOOP(log, double, d)
FLAMBEAU_LOOP(log1p, double, d)
FLAMBEAU_LOOP(tanh, double, d)
FLAMBEAU_LOOP(erf, double, d)
FLAMBEAU_LOOP(gelu, double, d)
FLAMBEAU_LOOP(sqrt, double, d)
FLAMBEAU_LOOP(rsqrt, double, d)
FLAMBEAU_LOOP(sigmoid, double, d)
FLAMBEAU_LOOP(log_sigmoid, double, d)
FLAMBEAU_LOOP(silu, double, d)
FLAMBEAU_LOOP(gelu_tanh, double, d)
FLAMBEAU_LOOP(mish, double, d)

}  // namespace flambeau::kernels::vector_math::FLAMBEAU_ISA
