#include "flambeau/kernels/math/special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace flambeau::kernels::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi;

double lgamma_of(double x) {
#if defined(__GLIBC__)
  int sign = 0;  // std::lgamma keeps it in a global variable, which threads would share
  return ::lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}

double digamma_of(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (x < 0) {
    if (x == std::trunc(x)) return kNan;  // -inf too
    // By reflection; the fraction keeps the tangent's argument small.
    double whole = 0;
    return digamma_of(1 - x) - kPi / std::tan(kPi * std::modf(x, &whole));
  }
  double result = 0;
  for (; x < 10; x += 1) result -= 1 / x;
  if (x == kInf) return x;
  // The asymptotic series, with Bernoulli numbers over 2k.
  const double z = 1 / (x * x);
  const double series =
      z *
      (1.0 / 12 -
       z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

double trigamma_of_positive(double x) {
  double result = 0;
  for (; x < 12; x += 1) result += 1 / (x * x);
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66 - z * 691 / 2730)))));
  return result + (1 + 0.5 / x + series) / x;
}
// The reflection is rounded as PyTorch's is, to T: beside the poles that shows in the first digits.
template <typename T>
T trigamma_of(T x) {
  if (!(x < T(0.5))) return static_cast<T>(trigamma_of_positive(x));
  const T s = std::sin(static_cast<T>(kPi) * x);
  const T reflected = static_cast<T>(kPi * kPi) / (s * s);
  return reflected - static_cast<T>(trigamma_of_positive(1 - static_cast<double>(x)));
}

// y with erfc(y) = q, 0 < q <= 1: a textbook start, then Halley's steps, which triple the digits.
double erfc_inverse(double q) {
  const double t = std::sqrt(-2 * std::log(q / 2));
  double y = (t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                      (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))) /
             std::numbers::sqrt2;
  for (int i = 0; i < 3; ++i) {
    const double step = (std::erfc(y) - q) / (-2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    if (!std::isfinite(step)) break;  // beyond the smallest number the start is the best there is
    y -= step / (1 + y * step);
  }
  return y;
}

double erfinv_of(double x) {
  const double a = std::abs(x);
  if (!(a <= 1)) return kNan;
  if (a == 1) return std::copysign(kInf, x);
  if (a > 0.5) return std::copysign(erfc_inverse(1 - a), x);
  // Near 0 erf keeps its digits and erfc does not.
  double y = x * std::sqrt(kPi) / 2;
  for (int i = 0; i < 4; ++i) {
    const double step = (std::erf(y) - x) / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return x == 0 ? x : y;
}

double ndtri_of(double p) {
  if (!(p >= 0 && p <= 1)) return kNan;
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  if (p < 0.25) return -std::numbers::sqrt2 * erfc_inverse(2 * p);
  if (p > 0.75) return std::numbers::sqrt2 * erfc_inverse(2 * (1 - p));
  return std::numbers::sqrt2 * erfinv_of(2 * p - 1);
}

double ndtr_of(double x) { return 0.5 * std::erfc(-x * (std::numbers::sqrt2 / 2)); }

// I_n(a) exp(-a) for order 0 and 1, a >= 0. The power series has positive terms only; the asymptotic one is
// good where its terms fall below the last digit before they grow.
double scaled_bessel(int order, double a) {
  if (a > 25) {
    const double mu = 4.0 * order * order;
    double term = 1;
    double sum = 1;
    for (int k = 1; k < 60; ++k) {
      const double odd = 2 * k - 1;
      const double next = term * (odd * odd - mu) / (k * 8 * a);
      if (std::abs(next) < 1e-17 || std::abs(next) >= std::abs(term)) break;
      sum += term = next;
    }
    return a == kInf ? 0 : sum / std::sqrt(2 * kPi * a);
  }
  const double z = a * a / 4;
  double term = order == 0 ? 1 : a / 2;
  double sum = term;
  for (int k = 1; term > sum * 1e-17; ++k) sum += term *= z / (static_cast<double>(k) * (k + order));
  return sum * std::exp(-a);
}
double bessel_i0e_of(double x) { return std::isnan(x) ? x : scaled_bessel(0, std::abs(x)); }
double bessel_i1e_of(double x) { return std::isnan(x) ? x : std::copysign(scaled_bessel(1, std::abs(x)), x); }
// In two factors: exp alone overflows earlier.
double unscaled(double scaled, double x) {
  if (std::isinf(x)) return kNan;  // as PyTorch's inf * 0
  const double half = std::exp(std::abs(x) / 2);
  return std::isinf(half) ? half : scaled * half * half;
}
double bessel_i0_of(double x) { return std::isnan(x) ? x : unscaled(bessel_i0e_of(x), x); }
double bessel_i1_of(double x) {
  return std::isnan(x) ? x : std::copysign(unscaled(scaled_bessel(1, std::abs(x)), x), x);
}

double sinc_of(double x) { return x == 0 ? 1 : std::sin(kPi * x) / (kPi * x); }

double entr_of(double x) {
  if (std::isnan(x)) return x;
  if (x > 0) return -x * std::log(x);
  return x == 0 ? 0 : -kInf;
}

}  // namespace

#define FLAMBEAU_SPECIAL(name)                                                 \
  void name(const float* x, float* y, size_t n) {                              \
    for (size_t i = 0; i < n; ++i) y[i] = static_cast<float>(name##_of(x[i])); \
  }                                                                            \
  void name(const double* x, double* y, size_t n) {                            \
    for (size_t i = 0; i < n; ++i) y[i] = name##_of(x[i]);                     \
  }
FLAMBEAU_SPECIAL(lgamma)
FLAMBEAU_SPECIAL(digamma)
FLAMBEAU_SPECIAL(trigamma)
FLAMBEAU_SPECIAL(erfinv)
FLAMBEAU_SPECIAL(ndtri)
FLAMBEAU_SPECIAL(ndtr)
FLAMBEAU_SPECIAL(bessel_i0)
FLAMBEAU_SPECIAL(bessel_i0e)
FLAMBEAU_SPECIAL(bessel_i1)
FLAMBEAU_SPECIAL(bessel_i1e)
FLAMBEAU_SPECIAL(sinc)
FLAMBEAU_SPECIAL(entr)

}  // namespace flambeau::kernels::special
