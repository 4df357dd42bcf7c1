// The regularized incomplete gamma functions: what of the gamma function's integral lies below x, and above.
#include <cmath>
#include <limits>
#include <numbers>

#include "flambeau/kernels/math/special.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {
namespace {

double log_gamma(double x) {
  kernels::special::lgamma(&x, &x, 1);
  return x;
}

// lambda - 1 - log(lambda) for lambda = x / a, exact near 1.
double deviance(double a, double x) {
  const double mu = (x - a) / a;
  if (std::abs(mu) > 0.1) return mu - std::log1p(mu);
  double term = mu * mu;
  double sum = 0;
  for (int k = 2; std::abs(term) > 1e-18 * mu * mu; ++k) {
    sum += term / (k % 2 == 0 ? k : -k);
    term *= mu;
    if (k > 40) break;
  }
  return sum;
}
// x^a exp(-x) / gamma(a)
double gamma_factor(double a, double x) {
  if (a < 20) return std::exp(a * std::log(x) - x - log_gamma(a));
  const double b = 1 / (a * a);
  const double stirling = (1.0 / 12 - b * (1.0 / 360 - b * (1.0 / 1260 - b / 1680))) / a;
  return std::exp(-a * deviance(a, x) - stirling) * std::sqrt(a / (2 * std::numbers::pi));
}

// Both parts for a great a: the normal distribution and the first terms of what it lacks.
double above_of_great(double a, double x, bool above) {
  const double square = 2 * deviance(a, x);
  const double eta = std::copysign(std::sqrt(std::max(square, 0.0)), x - a);
  const double normal = std::erfc((above ? eta : -eta) * std::sqrt(a / 2)) / 2;
  if (std::abs(eta) > 0.5) return normal;
  const double first =
      -1.0 / 3 +
      eta * (1.0 / 12 - eta * (2.0 / 135 - eta * (1.0 / 864 + eta * (1.0 / 2835 - eta * 139.0 / 777600))));
  const double second = -1.0 / 540 - eta * (1.0 / 288 - eta / 378);
  const double rest = std::exp(-a * square / 2) / std::sqrt(2 * std::numbers::pi * a) * (first + second / a);
  return above ? normal + rest : normal - rest;
}

// For x up to about a: the series of the part below.
double gamma_below(double a, double x) {
  double term = 1 / a;
  double sum = term;
  for (int k = 1; k < 5000 && term > 1e-17 * sum; ++k) sum += term *= x / (a + k);
  return gamma_factor(a, x) * sum;
}
// For x beyond that: the continued fraction of the part above, from its front.
double gamma_above(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a;
  double c = 1 / kTiny;
  double d = 1 / b;
  double result = d;
  for (int k = 1; k < 5000; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = b + numerator / c;
    if (std::abs(c) < kTiny) c = kTiny;
    result *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return gamma_factor(a, x) * result;
}

template <bool kAbove>
double incomplete_gamma(double a, double x) {
  constexpr double kNone = kAbove ? 1 : 0;
  constexpr double kAll = 1 - kNone;
  // In PyTorch's order, which decides what meets what is no number.
  if (a < 0 || x < 0 || (a == 0 && !(x > 0))) return std::numeric_limits<double>::quiet_NaN();
  if (a == 0) return kAll;
  if (x == 0) return kNone;
  if (std::isinf(a)) return std::isinf(x) ? std::numeric_limits<double>::quiet_NaN() : kNone;
  if (std::isinf(x)) return kAll;
  if (std::isnan(a) || std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
  if (a > 1e4) return above_of_great(a, x, kAbove);
  if (x <= 1 || x <= a) return kAbove ? 1 - gamma_below(a, x) : gamma_below(a, x);
  return kAbove ? gamma_above(a, x) : 1 - gamma_above(a, x);
}

template <bool kAbove>
struct IncompleteGamma {
  static constexpr std::string_view kName = kAbove ? "igammac" : "igamma";
  static constexpr int kCost = 300;
  template <RealNumber T>
  T operator()(T a, T x) const {
    return static_cast<T>(incomplete_gamma<kAbove>(static_cast<double>(a), static_cast<double>(x)));
  }
};
using Below = IncompleteGamma<false>;
using Above = IncompleteGamma<true>;

// Integers have no such function, and no type is chosen for them.
template <typename F, typename N>
Info<N> incomplete_gamma_shape(const Info<N>& self, const Info<N>& other) {
  const DType type = result_type(self, other);
  if (!is_floating(type)) fail_dtype(F::kName, type);
  return elementwise_info<N>(type, self, other);
}
template <typename F>
Definition define_incomplete(Library& library, std::string_view schema) {
  return library.define(schema)
      .template shape<incomplete_gamma_shape<F, Size>, incomplete_gamma_shape<F, SymInt>>()
      .template body<binary<F>>()
      .elementwise();
}

}  // namespace

void define_incomplete_gamma(Library& library) {
  define_incomplete<Below>(library, "aten::igamma(Tensor self, Tensor other) -> Tensor");
  define_incomplete<Above>(library, "aten::igammac(Tensor self, Tensor other) -> Tensor");
  define_incomplete<Below>(library, "aten::special_gammainc(Tensor self, Tensor other) -> Tensor")
      .alias("aten::igamma");
  define_incomplete<Above>(library, "aten::special_gammaincc(Tensor self, Tensor other) -> Tensor")
      .alias("aten::igammac");
}

}  // namespace flambeau::ops
