// Loops of vector_math over angles; and over float that compute in double: functions that are called less
// often, where the textbook formula in double is right to the last digit of a float.
#include "flambeau/kernels/math/vector_math_angles.h"
#include "flambeau/kernels/math/vector_math_loops.h"

namespace flambeau::kernels::vector_math::FLAMBEAU_ISA {
namespace {

template <typename Function>
FLAMBEAU_INLINE void each(const float* x, float* y, size_t n, Function function) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<float>(function(static_cast<double>(x[i])));
}

FLAMBEAU_INLINE double log10_of(double x) { return log_of(x) * 0.43429448190325182765; }
FLAMBEAU_INLINE double sinh_of(double x) {
  const double e = exp_of(magnitude(x));
  const double far = with_sign(0.5 * (e - 1.0 / e), x);
  const double z = x * x;
  const double near = x * (1.0 + z * (1.0 / 6 + z * (1.0 / 120)));
  return magnitude(x) < 0.05 ? near : far;
}
FLAMBEAU_INLINE double cosh_of(double x) {
  const double e = exp_of(magnitude(x));
  return 0.5 * (e + 1.0 / e);
}
FLAMBEAU_INLINE double asinh_of(double x) {
  const double a = magnitude(x);
  const double z = a * a;
  const double y = with_sign(log1p_of(a + z / (1.0 + std::sqrt(1.0 + z))), x);
  return a == kInfD ? x : y;
}
FLAMBEAU_INLINE double acosh_of(double x) {
  const double t = x - 1.0;
  const double y = log1p_of(t + std::sqrt(t * (t + 2.0)));
  return t < 0.0 ? std::numeric_limits<double>::quiet_NaN() : y;
}
FLAMBEAU_INLINE double atanh_of(double x) {
  const double a = magnitude(x);
  return with_sign(0.5 * log1p_of(2.0 * a / (1.0 - a)), x);
}
FLAMBEAU_INLINE double atan_of(double x) { return with_sign(atan_of_quotient(magnitude(x), 1.0), x); }
FLAMBEAU_INLINE double asin_of(double x) { return atan_of(x / std::sqrt((1.0 - x) * (1.0 + x))); }
FLAMBEAU_INLINE double acos_of(double x) { return 2.0 * atan_of(std::sqrt((1.0 - x) / (1.0 + x))); }

// erfc(a) exp(a^2) (1 + a) is smooth in s = (a - 3) / (a + 3), for all a whose erfc is a float.
FLAMBEAU_INLINE double erfc_of(double x) {
  const double a = magnitude(x) > 10.3 ? 10.3 : magnitude(x);
  const double s = (a - 3.0) / (a + 3.0);
  double p = 1.397294824019e-5;
  p = p * s + 6.055994303739e-5;
  p = p * s - 3.044838775925e-5;
  p = p * s - 0.0003746829026244;
  p = p * s + 0.0006473821073725;
  p = p * s + 0.001621191384026;
  p = p * s - 0.009750556975891;
  p = p * s + 0.02195738214619;
  p = p * s - 0.02380395958365;
  p = p * s - 0.01023536602016;
  p = p * s + 0.09902075623991;
  p = p * s - 0.2309273334856;
  p = p * s + 0.7160046047068;
  const double y = p * exp_of(-a * a) / (1.0 + a);
  return x < 0.0 ? 2.0 - y : y;
}

constexpr size_t kBlock = 512;

// sin, cos and tan: polynomials for angles of usual size, the standard library for the others.
template <typename T, typename Function, typename Exact>
FLAMBEAU_INLINE void each_angle(const T* x, T* y, size_t n, Function function, Exact exact) {
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t count = n - begin < kBlock ? n - begin : kBlock;
    T kept[kBlock];  // x and y may be the same array
    const T* from = x + begin;
    T* to = y + begin;
    int32_t large = 0;
    for (size_t i = 0; i < count; ++i) {
      kept[i] = from[i];
      large |= magnitude(from[i]) <= T(kSinLimit) ? 0 : 1;
    }
    for (size_t i = 0; i < count; ++i) to[i] = function(kept[i]);
    if (large == 0) continue;
    for (size_t i = 0; i < count; ++i) {
      if (!(magnitude(kept[i]) <= T(kSinLimit))) to[i] = exact(kept[i]);
    }
  }
}

FLAMBEAU_INLINE float tan_of(float x) {
  const AngleF a = reduce_angle(x);
  const float s = sin_polynomial(a.r);
  const float c = cos_polynomial(a.r);
  const bool turned = (a.quadrant & 1) != 0;
  const float y = (turned ? -c : s) / (turned ? s : c);
  return x == 0.0F ? x : y;
}

}  // namespace

#define FLAMBEAU_LOOP(name)                               \
  void name##_float(const float* x, float* y, size_t n) { \
    each(x, y, n, [](double a) { return name##_of(a); }); \
  }

FLAMBEAU_LOOP(log10)
FLAMBEAU_LOOP(sinh)
FLAMBEAU_LOOP(cosh)
FLAMBEAU_LOOP(asinh)
FLAMBEAU_LOOP(acosh)
FLAMBEAU_LOOP(atanh)
FLAMBEAU_LOOP(atan)
FLAMBEAU_LOOP(asin)
FLAMBEAU_LOOP(acos)
FLAMBEAU_LOOP(erfc)

void sin_float(const float* x, float* y, size_t n) {
  each_angle(x, y, n, [](float a) { return sin_of(a); }, [](float a) { return std::sin(a); });
}
void cos_float(const float* x, float* y, size_t n) {
  each_angle(x, y, n, [](float a) { return cos_of(a); }, [](float a) { return std::cos(a); });
}
void sin_double(const double* x, double* y, size_t n) {
  each_angle(x, y, n, [](double a) { return sin_of(a); }, [](double a) { return std::sin(a); });
}
void cos_double(const double* x, double* y, size_t n) {
  each_angle(x, y, n, [](double a) { return cos_of(a); }, [](double a) { return std::cos(a); });
}
void tan_float(const float* x, float* y, size_t n) {
  each_angle(x, y, n, [](float a) { return tan_of(a); }, [](float a) { return std::tan(a); });
}

void softplus_float(const float* x, float* y, size_t n, double beta, double threshold) {
  each(x, y, n, [=](double a) { return softplus_of(a, beta, threshold); });
}
void softplus_double(const double* x, double* y, size_t n, double beta, double threshold) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) y[i] = softplus_of(x[i], beta, threshold);
}
void pow_float(const float* x, const float* exponent, float* y, size_t n) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) {
    y[i] = static_cast<float>(pow_of(static_cast<double>(x[i]), static_cast<double>(exponent[i])));
  }
}
void hypot_float(const float* x, const float* z, float* y, size_t n) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) {
    const double a = x[i];
    const double b = z[i];
    const double length = std::sqrt(a * a + b * b);
    const bool infinite = magnitude(a) == kInfD || magnitude(b) == kInfD;
    y[i] = static_cast<float>(infinite ? kInfD : length);
  }
}

}  // namespace flambeau::kernels::vector_math::FLAMBEAU_ISA
