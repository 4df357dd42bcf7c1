// Orthogonal polynomials of degree n at x: by the recurrence of three terms, and between their bounds, where
// many terms would be needed, by their closed form.
#include <cmath>

#include "flambeau/kernels/math/bessel.h"
#include "flambeau/kernels/math/special.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {
namespace {

// The degree as PyTorch takes it: cut to an integer; none where the polynomial is 0.
template <typename T>
int64_t degree(T n) {
  return n > -1 && n < T(9e18) ? static_cast<int64_t>(n) : -1;
}

// p(0) = 1, p(1) = first, p(k + 1) = step(k, p(k), p(k - 1)). Ends early where nothing changes any more.
template <typename T, typename Step>
T recurrence(int64_t n, T first, const Step& step) {
  if (n < 0) return 0;
  if (n == 0) return 1;
  T before = 1;
  T now = first;
  for (int64_t k = 1; k < n && !std::isnan(now); ++k) {
    const T next = step(static_cast<T>(k), now, before);
    before = now;
    now = next;
  }
  return now;
}
template <typename T>
T sign_of_degree(int64_t n) {
  return n % 2 == 0 ? T(1) : T(-1);
}

// Beyond this degree the recurrence would take long, and the form for high degrees has all digits of the
// value's scale.
constexpr int64_t kHighDegree = 1000000;

// The Bessel function that polynomials of high degrees become.
double bessel_of(double x, bool oscillates) {
  if (oscillates) {
    kernels::special::bessel_j0(&x, &x, 1);
  } else {
    kernels::special::bessel_i0(&x, &x, 1);
  }
  return x;
}

// The four kinds of Chebyshev differ in the first polynomial, 2 x + kShift (x for the first kind), in their
// values at 1 and -1, and in the closed form by the angle whose cosine x is.
enum class Kind : uint8_t { kFirst, kSecond, kThird, kFourth };
template <Kind kKind, typename T>
T chebyshev_polynomial(T x, T degree_of) {
  const int64_t n = degree(degree_of);
  if (n < 0) return 0;
  const T many = static_cast<T>(n);
  const T sign = sign_of_degree<T>(n);
  if (std::abs(x) == T(1)) {
    const bool is_one = x > 0;
    switch (kKind) {
      case Kind::kFirst:
        return is_one ? T(1) : sign;
      case Kind::kSecond:
        return (is_one ? T(1) : sign) * (many + 1);
      case Kind::kThird:
        return is_one ? T(1) : sign * (many + many + 1);
      case Kind::kFourth:
        return is_one ? many + many + 1 : sign;
    }
  }
  constexpr int64_t kRecurred = kKind == Kind::kFirst || kKind == Kind::kSecond ? 6 : 8;
  if (n > kRecurred && std::abs(x) < T(1)) {
    const T angle = std::acos(x);
    const T half = angle / 2;
    switch (kKind) {
      case Kind::kFirst:
        return std::cos(many * angle);
      case Kind::kSecond:
        return std::sin((many + 1) * angle) / std::sin(angle);
      case Kind::kThird:
        return std::cos((many + T(0.5)) * angle) / std::cos(half);
      case Kind::kFourth:
        return std::sin((many + T(0.5)) * angle) / std::sin(half);
    }
  }
  if (n > kHighDegree && std::abs(x) > T(1)) {
    const T angle = std::acosh(std::abs(x));
    const T half = angle / 2;
    const T side = x > 0 ? T(1) : sign;
    constexpr bool kOutside = kKind == Kind::kThird || kKind == Kind::kFourth;
    if constexpr (kKind == Kind::kFirst) return side * std::cosh(many * angle);
    if constexpr (kKind == Kind::kSecond) return side * std::sinh((many + 1) * angle) / std::sinh(angle);
    if constexpr (kOutside) {
      const T at = (many + T(0.5)) * angle;
      const bool is_even = (kKind == Kind::kThird) == (x > 0);
      return side * (is_even ? std::cosh(at) / std::cosh(half) : std::sinh(at) / std::sinh(half));
    }
  }
  const T first = kKind == Kind::kFirst    ? x
                  : kKind == Kind::kSecond ? x + x
                  : kKind == Kind::kThird  ? x + x - 1
                                           : x + x + 1;
  return recurrence<T>(n, first, [x](T, T now, T before) { return (x + x) * now - before; });
}

template <typename T>
T legendre_polynomial(T x, T degree_of) {
  const int64_t n = degree(degree_of);
  if (n >= 0 && std::abs(x) == T(1)) return x > 0 ? T(1) : sign_of_degree<T>(n);
  if (n > kHighDegree && std::isfinite(x)) {
    const double at = std::abs(static_cast<double>(x));
    const double angle = at < 1 ? std::acos(at) : std::acosh(at);
    const double scale = std::sqrt(angle / (at < 1 ? std::sin(angle) : std::sinh(angle)));
    const double value = scale * bessel_of((static_cast<double>(n) + 0.5) * angle, at < 1);
    return (x > 0 ? T(1) : sign_of_degree<T>(n)) * static_cast<T>(value);
  }
  return recurrence<T>(n, x,
                       [x](T k, T now, T before) { return ((k + k + 1) * x * now - k * before) / (k + 1); });
}
template <typename T>
T laguerre_polynomial(T x, T degree_of) {
  const int64_t n = degree(degree_of);
  if (n >= 0 && x == 0) return 1;
  if (n > kHighDegree && std::isfinite(x)) {
    const double at = static_cast<double>(x);
    const double root = 2 * std::sqrt((static_cast<double>(n) + 0.5) * std::abs(at));
    return static_cast<T>(std::exp(at / 2) * bessel_of(root, at > 0));
  }
  return recurrence<T>(
      n, 1 - x, [x](T k, T now, T before) { return ((k + k + (1 - x)) * now - k * before) / (k + 1); });
}
// These leave the range of numbers within some hundred steps.
template <typename T>
T hermite_polynomial_h(T x, T degree_of) {
  return recurrence<T>(degree(degree_of), x + x,
                       [x](T k, T now, T before) { return (x + x) * now - (k + k) * before; });
}
template <typename T>
T hermite_polynomial_he(T x, T degree_of) {
  return recurrence<T>(degree(degree_of), x, [x](T k, T now, T before) { return x * now - k * before; });
}

#define FLAMBEAU_POLYNOMIAL(Name, name, value)                                                             \
  struct Name {                                                                                            \
    static constexpr std::string_view kName = #name;                                                       \
    static constexpr int kCost = 60;                                                                       \
    template <RealNumber T>                                                                                \
    T operator()(T x, T n) const {                                                                         \
      return value;                                                                                        \
    }                                                                                                      \
  };                                                                                                       \
  void define_##name(Library& library) {                                                                   \
    elementwise<PromotedFloatType, binary<Name>>(library,                                                  \
                                                 "aten::special_" #name "(Tensor x, Tensor n) -> Tensor"); \
    elementwise<NumberFloatType, number_binary<Name>>(                                                     \
        library, "aten::special_" #name ".x_scalar(Scalar x, Tensor n) -> Tensor");                        \
    elementwise<NumberFloatType, binary_number<Name>>(                                                     \
        library, "aten::special_" #name ".n_scalar(Tensor x, Scalar n) -> Tensor");                        \
  }

FLAMBEAU_POLYNOMIAL(ChebyshevT, chebyshev_polynomial_t, (chebyshev_polynomial<Kind::kFirst>(x, n)))
FLAMBEAU_POLYNOMIAL(ChebyshevU, chebyshev_polynomial_u, (chebyshev_polynomial<Kind::kSecond>(x, n)))
FLAMBEAU_POLYNOMIAL(ChebyshevV, chebyshev_polynomial_v, (chebyshev_polynomial<Kind::kThird>(x, n)))
FLAMBEAU_POLYNOMIAL(ChebyshevW, chebyshev_polynomial_w, (chebyshev_polynomial<Kind::kFourth>(x, n)))
// The same over 0 to 1.
FLAMBEAU_POLYNOMIAL(ShiftedT, shifted_chebyshev_polynomial_t,
                    (chebyshev_polynomial<Kind::kFirst>(x + x - T(1), n)))
FLAMBEAU_POLYNOMIAL(ShiftedU, shifted_chebyshev_polynomial_u,
                    (chebyshev_polynomial<Kind::kSecond>(x + x - T(1), n)))
FLAMBEAU_POLYNOMIAL(ShiftedV, shifted_chebyshev_polynomial_v,
                    (chebyshev_polynomial<Kind::kThird>(x + x - T(1), n)))
FLAMBEAU_POLYNOMIAL(ShiftedW, shifted_chebyshev_polynomial_w,
                    (chebyshev_polynomial<Kind::kFourth>(x + x - T(1), n)))
FLAMBEAU_POLYNOMIAL(Legendre, legendre_polynomial_p, legendre_polynomial(x, n))
FLAMBEAU_POLYNOMIAL(Laguerre, laguerre_polynomial_l, laguerre_polynomial(x, n))
FLAMBEAU_POLYNOMIAL(HermiteH, hermite_polynomial_h, hermite_polynomial_h(x, n))
FLAMBEAU_POLYNOMIAL(HermiteHe, hermite_polynomial_he, hermite_polynomial_he(x, n))
#undef FLAMBEAU_POLYNOMIAL

}  // namespace

void define_polynomials(Library& library) {
  define_chebyshev_polynomial_t(library);
  define_chebyshev_polynomial_u(library);
  define_chebyshev_polynomial_v(library);
  define_chebyshev_polynomial_w(library);
  define_shifted_chebyshev_polynomial_t(library);
  define_shifted_chebyshev_polynomial_u(library);
  define_shifted_chebyshev_polynomial_v(library);
  define_shifted_chebyshev_polynomial_w(library);
  define_legendre_polynomial_p(library);
  define_laguerre_polynomial_l(library);
  define_hermite_polynomial_h(library);
  define_hermite_polynomial_he(library);
}

}  // namespace flambeau::ops
