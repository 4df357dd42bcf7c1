// The vector mathematics that libraries take from Sleef, which PyTorch carries: arguments and results are the
// processor's own vectors, of 32 bytes or of 64.
#include "flambeau/aot/native/box.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cmath>

#include "flambeau/kernels/math/vector_math.h"

namespace flambeau::aot::native {
namespace {

namespace math = kernels::vector_math;

// A function over arrays as one over vectors.
template <typename T>
using Unary = void (*)(const T*, T*, size_t);
template <typename T>
using Binary = void (*)(const T*, const T*, T*, size_t);

template <typename T, T (*kOne)(T)>
void each(const T* x, T* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = kOne(x[i]);
}
template <typename T, T (*kOne)(T, T)>
void each(const T* a, const T* b, T* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = kOne(a[i], b[i]);
}
float lgamma_of(float x) { return std::lgamma(x); }
double lgamma_of(double x) { return std::lgamma(x); }
float next_after(float a, float b) { return std::nextafter(a, b); }
double next_after(double a, double b) { return std::nextafter(a, b); }
float copy_sign(float a, float b) { return std::copysign(a, b); }
double copy_sign(double a, double b) { return std::copysign(a, b); }

template <Unary<float> kFunction>
[[gnu::target("avx2")]] __m256 floats8(__m256 x) {
  alignas(32) float values[8];
  _mm256_store_ps(values, x);
  kFunction(values, values, 8);
  return _mm256_load_ps(values);
}
template <Unary<double> kFunction>
[[gnu::target("avx2")]] __m256d doubles4(__m256d x) {
  alignas(32) double values[4];
  _mm256_store_pd(values, x);
  kFunction(values, values, 4);
  return _mm256_load_pd(values);
}
template <Unary<float> kFunction>
[[gnu::target("avx512f")]] __m512 floats16(__m512 x) {
  alignas(64) float values[16];
  _mm512_store_ps(values, x);
  kFunction(values, values, 16);
  return _mm512_load_ps(values);
}
template <Unary<double> kFunction>
[[gnu::target("avx512f")]] __m512d doubles8(__m512d x) {
  alignas(64) double values[8];
  _mm512_store_pd(values, x);
  kFunction(values, values, 8);
  return _mm512_load_pd(values);
}

template <Binary<float> kFunction>
[[gnu::target("avx2")]] __m256 pairs8(__m256 x, __m256 y) {
  alignas(32) float a[8], b[8];
  _mm256_store_ps(a, x);
  _mm256_store_ps(b, y);
  kFunction(a, b, a, 8);
  return _mm256_load_ps(a);
}
template <Binary<double> kFunction>
[[gnu::target("avx2")]] __m256d pairs4(__m256d x, __m256d y) {
  alignas(32) double a[4], b[4];
  _mm256_store_pd(a, x);
  _mm256_store_pd(b, y);
  kFunction(a, b, a, 4);
  return _mm256_load_pd(a);
}
template <Binary<float> kFunction>
[[gnu::target("avx512f")]] __m512 pairs16(__m512 x, __m512 y) {
  alignas(64) float a[16], b[16];
  _mm512_store_ps(a, x);
  _mm512_store_ps(b, y);
  kFunction(a, b, a, 16);
  return _mm512_load_ps(a);
}
template <Binary<double> kFunction>
[[gnu::target("avx512f")]] __m512d pairs_of_doubles8(__m512d x, __m512d y) {
  alignas(64) double a[8], b[8];
  _mm512_store_pd(a, x);
  _mm512_store_pd(b, y);
  kFunction(a, b, a, 8);
  return _mm512_load_pd(a);
}

// By the name without the number of elements and with the accuracy that Sleef promises.
#define FLAMBEAU_SLEEF(NAME, ACCURACY, FUNCTION)                   \
  function("Sleef_" #NAME "f8" ACCURACY, floats8<FUNCTION>),       \
      function("Sleef_" #NAME "d4" ACCURACY, doubles4<FUNCTION>),  \
      function("Sleef_" #NAME "f16" ACCURACY, floats16<FUNCTION>), \
      function("Sleef_" #NAME "d8" ACCURACY, doubles8<FUNCTION>)
#define FLAMBEAU_SLEEF_TWO(NAME, ACCURACY, FUNCTION)              \
  function("Sleef_" #NAME "f8" ACCURACY, pairs8<FUNCTION>),       \
      function("Sleef_" #NAME "d4" ACCURACY, pairs4<FUNCTION>),   \
      function("Sleef_" #NAME "f16" ACCURACY, pairs16<FUNCTION>), \
      function("Sleef_" #NAME "d8" ACCURACY, pairs_of_doubles8<FUNCTION>)
// Those that are not overloaded for arrays.
#define FLAMBEAU_SLEEF_EACH(NAME, ACCURACY, FUNCTION)                           \
  function("Sleef_" #NAME "f8" ACCURACY, floats8<each<float, FUNCTION>>),       \
      function("Sleef_" #NAME "d4" ACCURACY, doubles4<each<double, FUNCTION>>), \
      function("Sleef_" #NAME "f16" ACCURACY, floats16<each<float, FUNCTION>>), \
      function("Sleef_" #NAME "d8" ACCURACY, doubles8<each<double, FUNCTION>>)
#define FLAMBEAU_SLEEF_EACH_TWO(NAME, ACCURACY, FUNCTION)                      \
  function("Sleef_" #NAME "f8" ACCURACY, pairs8<each<float, FUNCTION>>),       \
      function("Sleef_" #NAME "d4" ACCURACY, pairs4<each<double, FUNCTION>>),  \
      function("Sleef_" #NAME "f16" ACCURACY, pairs16<each<float, FUNCTION>>), \
      function("Sleef_" #NAME "d8" ACCURACY, pairs_of_doubles8<each<double, FUNCTION>>)

const Function kVectorFunctions[] = {
    FLAMBEAU_SLEEF(exp, "_u10", math::exp),           FLAMBEAU_SLEEF(exp2, "_u10", math::exp2),
    FLAMBEAU_SLEEF(exp2, "_u35", math::exp2),         FLAMBEAU_SLEEF(expm1, "_u10", math::expm1),
    FLAMBEAU_SLEEF(log, "_u10", math::log),           FLAMBEAU_SLEEF(log, "_u35", math::log),
    FLAMBEAU_SLEEF(log2, "_u10", math::log2),         FLAMBEAU_SLEEF(log2, "_u35", math::log2),
    FLAMBEAU_SLEEF(log10, "_u10", math::log10),       FLAMBEAU_SLEEF(log1p, "_u10", math::log1p),
    FLAMBEAU_SLEEF(sin, "_u10", math::sin),           FLAMBEAU_SLEEF(sin, "_u35", math::sin),
    FLAMBEAU_SLEEF(cos, "_u10", math::cos),           FLAMBEAU_SLEEF(cos, "_u35", math::cos),
    FLAMBEAU_SLEEF(tan, "_u10", math::tan),           FLAMBEAU_SLEEF(tan, "_u35", math::tan),
    FLAMBEAU_SLEEF(asin, "_u10", math::asin),         FLAMBEAU_SLEEF(acos, "_u10", math::acos),
    FLAMBEAU_SLEEF(atan, "_u10", math::atan),         FLAMBEAU_SLEEF(atan, "_u35", math::atan),
    FLAMBEAU_SLEEF(sinh, "_u10", math::sinh),         FLAMBEAU_SLEEF(cosh, "_u10", math::cosh),
    FLAMBEAU_SLEEF(tanh, "_u10", math::tanh),         FLAMBEAU_SLEEF(asinh, "_u10", math::asinh),
    FLAMBEAU_SLEEF(acosh, "_u10", math::acosh),       FLAMBEAU_SLEEF(atanh, "_u10", math::atanh),
    FLAMBEAU_SLEEF(erf, "_u10", math::erf),           FLAMBEAU_SLEEF(erfc, "_u15", math::erfc),
    FLAMBEAU_SLEEF_EACH(lgamma, "_u10", lgamma_of),   FLAMBEAU_SLEEF_TWO(pow, "_u10", math::pow),
    FLAMBEAU_SLEEF_TWO(atan2, "_u10", math::atan2),   FLAMBEAU_SLEEF_TWO(atan2, "_u35", math::atan2),
    FLAMBEAU_SLEEF_TWO(hypot, "_u05", math::hypot),   FLAMBEAU_SLEEF_TWO(hypot, "_u35", math::hypot),
    FLAMBEAU_SLEEF_TWO(fmod, "", math::fmod),         FLAMBEAU_SLEEF_EACH_TWO(nextafter, "", next_after),
    FLAMBEAU_SLEEF_EACH_TWO(copysign, "", copy_sign),
};

}  // namespace

std::span<const Function> vector_functions() { return kVectorFunctions; }

}  // namespace flambeau::aot::native

#else

namespace flambeau::aot::native {

std::span<const Function> vector_functions() { return {}; }

}  // namespace flambeau::aot::native

#endif
