// Special functions: gamma and its kin, error functions and their inverses, Bessel functions.
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/kernels/math/special.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

#define FLAMBEAU_SPECIAL(Name, name)                                                            \
  struct Name {                                                                                 \
    static constexpr std::string_view kName = #name;                                            \
    static constexpr int kCost = 60;                                                            \
    static void rows(const float* x, float* y, size_t n) { kernels::special::name(x, y, n); }   \
    static void rows(const double* x, double* y, size_t n) { kernels::special::name(x, y, n); } \
  };
FLAMBEAU_SPECIAL(LogGamma, lgamma)
FLAMBEAU_SPECIAL(Digamma, digamma)
FLAMBEAU_SPECIAL(Trigamma, trigamma)
FLAMBEAU_SPECIAL(ErfInv, erfinv)
FLAMBEAU_SPECIAL(Ndtri, ndtri)
FLAMBEAU_SPECIAL(BesselI0, bessel_i0)
FLAMBEAU_SPECIAL(BesselI0e, bessel_i0e)
FLAMBEAU_SPECIAL(BesselI1, bessel_i1)
FLAMBEAU_SPECIAL(BesselI1e, bessel_i1e)
FLAMBEAU_SPECIAL(Entr, entr)

// The Hurwitz zeta function, the sum of (k + q)^-s: the first terms as they are, the rest by Euler and
// Maclaurin.
double zeta(double s, double q) {
  if (s == 1) return INFINITY;
  if (s < 1) return NAN;
  if (q <= 0) {
    if (q == std::floor(q)) return INFINITY;
    if (s != std::floor(s)) return NAN;  // (-x)^-s is no real number
  }
  constexpr int kTerms = 12;
  double sum = 0;
  double at = q;
  for (int k = 0; k < kTerms || at <= 9; ++k) {
    sum += std::pow(at, -s);
    at += 1;
  }
  sum += std::pow(at, 1 - s) / (s - 1) + std::pow(at, -s) / 2;
  // Bernoulli numbers over factorials, B(2j) / (2j)!.
  constexpr double kBernoulli[] = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000.0,
                                   1.0 / 74724249600.0,
                                   -3617.0 / 10670622842880000.0};
  double product = s * std::pow(at, -s - 1);
  double order = s + 1;
  for (const double factor : kBernoulli) {
    sum += factor * product;
    product *= order * (order + 1) / (at * at);
    order += 2;
  }
  return sum;
}

struct Zeta {
  static constexpr std::string_view kName = "zeta";
  static constexpr int kCost = 500;
  template <RealNumber T>
  T operator()(T s, T q) const {
    return static_cast<T>(zeta(static_cast<double>(s), static_cast<double>(q)));
  }
};
// (-1)^(n + 1) n! zeta(n + 1, x)
struct Polygamma {
  static constexpr std::string_view kName = "polygamma";
  static constexpr int kCost = 500;
  int64_t order;
  template <RealNumber T>
  T operator()(T x) const {
    const auto n = static_cast<double>(order);
    const double sign = order % 2 == 0 ? -1 : 1;
    return static_cast<T>(sign * std::exp(std::lgamma(n + 1)) * zeta(n + 1, static_cast<double>(x)));
  }
};
Body polygamma(Size n, const Tensor& self, const Tensor& out) {
  if (n < 0) throw Error(ErrorCode::kInvalidArgument, "polygamma(n, x) does not support negative n.");
  if (n == 0) return unary<Digamma>(self, out);
  if (n == 1) return unary<Trigamma>(self, out);
  return body_of(Polygamma::kName, Polygamma{n}, out.dtype(), out, self);
}

// Its arguments stand the other way round.
Tensor polygamma_in_place(Context& context, const Tensor& self, Size n) {
  return call(context, "aten::copy_", self, call(context, "aten::polygamma", n, self));
}

struct LogNdtr {
  static constexpr std::string_view kName = "log_ndtr";
  static constexpr int kCost = 80;
  template <RealNumber T>
  T operator()(T x) const {
    const auto a = static_cast<double>(x);
    if (a >= -5) return static_cast<T>(std::log1p(-std::erfc(a * M_SQRT1_2) / 2));
    if (a >= -30) return static_cast<T>(std::log(std::erfc(-a * M_SQRT1_2) / 2));
    // Far out: the density over |x|, with the first terms of its asymptotic series.
    const double inverse = 1 / (a * a);
    const double series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse)));
    return static_cast<T>(-a * a / 2 - std::log(-a) - 0.91893853320467274178 + std::log(series));
  }
};
// exp(x^2) erfc(x)
struct Erfcx {
  static constexpr std::string_view kName = "erfcx";
  static constexpr int kCost = 80;
  template <RealNumber T>
  T operator()(T x) const {
    const auto a = static_cast<double>(x);
    if (a < 20) return static_cast<T>(std::exp(a * a) * std::erfc(a));
    const double inverse = 1 / (2 * a * a);
    const double series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse)));
    return static_cast<T>(0.56418958354775628695 / a * series);
  }
};

// As PyTorch makes it, with its roundings.
Tensor ndtr(Context& context, const Tensor& self) {
  const Tensor scaled = call(context, "aten::mul.Scalar", self, M_SQRT1_2);
  const Tensor more = call(context, "aten::add.Scalar", call(context, "aten::erf", scaled), 1);
  return call(context, "aten::mul.Scalar", more, 0.5);
}

// Without its constant: the sum of lgamma(x - j / 2).
Tensor mvlgamma(Context& context, const Tensor& self, Size p) {
  if (p < 1) throw Error(ErrorCode::kInvalidArgument, "p has to be greater than or equal to 1");
  Tensor sum = call(context, "aten::lgamma", self);
  for (int64_t j = 1; j < p; ++j) {
    const Tensor shifted = call(context, "aten::sub.Scalar", self, static_cast<double>(j) / 2);
    sum = call(context, "aten::add.Tensor", sum, call(context, "aten::lgamma", shifted));
  }
  const auto order = static_cast<double>(p);
  return call(context, "aten::add.Scalar", sum, order * (order - 1) / 4 * 1.14472988584940017414);
}
Tensor entr_parts(Context& c, const Tensor& self) {
  const Tensor is_nan = call(c, "aten::isnan", self);
  const Tensor is_positive = call(c, "aten::gt.Scalar", self, 0);
  const Tensor negative = call(c, "aten::neg", self);
  const Tensor entropy = parts::mul(c, negative, call(c, "aten::log", self));
  const Tensor is_zero = call(c, "aten::eq.Scalar", self, 0);
  const Tensor infinity = parts::scalar(c, -std::numeric_limits<double>::infinity(), self);
  const Tensor otherwise = parts::where(c, is_zero, parts::scalar(c, 0, self), infinity);
  return parts::where(c, is_nan, self, parts::where(c, is_positive, entropy, otherwise));
}
Tensor multigammaln(Context& context, const Tensor& self, Size p) {
  return call(context, "aten::mvlgamma", self, p);
}

#define FLAMBEAU_DEFINE(name, F) \
  elementwise<FloatType, unary<F>>(library, "aten::" name "(Tensor self) -> Tensor")

}  // namespace

void define_special_functions(Library& library) {
  FLAMBEAU_DEFINE("lgamma", LogGamma);
  FLAMBEAU_DEFINE("special_gammaln", LogGamma).alias("aten::lgamma");
  FLAMBEAU_DEFINE("digamma", Digamma);
  FLAMBEAU_DEFINE("special_digamma", Digamma).alias("aten::digamma");
  FLAMBEAU_DEFINE("special_psi", Digamma).alias("aten::digamma");
  FLAMBEAU_DEFINE("erfinv", ErfInv);
  FLAMBEAU_DEFINE("special_erfinv", ErfInv).alias("aten::erfinv");
  FLAMBEAU_DEFINE("special_erfcx", Erfcx);
  FLAMBEAU_DEFINE("special_ndtri", Ndtri);
  FLAMBEAU_DEFINE("special_log_ndtr", LogNdtr);
  FLAMBEAU_DEFINE("special_entr", Entr).core_decomposition<entr_parts>();
  FLAMBEAU_DEFINE("i0", BesselI0);
  FLAMBEAU_DEFINE("special_i0", BesselI0).alias("aten::i0");
  FLAMBEAU_DEFINE("special_i0e", BesselI0e);
  FLAMBEAU_DEFINE("special_i1", BesselI1);
  FLAMBEAU_DEFINE("special_i1e", BesselI1e);
  elementwise<FloatType, polygamma>(library, "aten::polygamma(int n, Tensor self) -> Tensor");
  library.define("aten::polygamma_(Tensor(a!) self, int n) -> Tensor(a!)")
      .decomposition<polygamma_in_place>();
  elementwise<FloatType, polygamma>(library, "aten::special_polygamma(int n, Tensor self) -> Tensor")
      .alias("aten::polygamma");
  elementwise<PromotedFloatType, binary<Zeta>>(library,
                                               "aten::special_zeta(Tensor self, Tensor other) -> Tensor");
  elementwise<NumberFloatType, binary_number<Zeta>>(
      library, "aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor");
  elementwise<NumberFloatType, number_binary<Zeta>>(
      library, "aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor");
  library.define("aten::special_ndtr(Tensor self) -> Tensor").composite<ndtr>();
  library.define("aten::mvlgamma(Tensor self, int p) -> Tensor").decomposition<mvlgamma>();
  library.define("aten::special_multigammaln(Tensor self, int p) -> Tensor").composite<multigammaln>();
}

}  // namespace flambeau::ops
