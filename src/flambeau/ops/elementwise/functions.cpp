// Functions of mathematics: of integers they give float32, of complex numbers complex ones.
#include <cmath>
#include <numbers>

#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::ops {
namespace {

namespace vector_math = kernels::vector_math;

// As code: of float and double, or of float alone.
#define FLAMBEAU_CODED(name) static constexpr std::string_view kCode = FLAMBEAU_CALL(name);
#define FLAMBEAU_CODED_FLOAT(name) static constexpr std::string_view kFloatCode = FLAMBEAU_CALL(name);
#define FLAMBEAU_CALL(name) "return " #name "_of(a);"
#define FLAMBEAU_UNCODED(name)
// A function of vector_math.
#define FLAMBEAU_REAL_FUNCTION(Name, name, coded)                                                    \
  struct Name {                                                                                      \
    static constexpr std::string_view kName = #name;                                                 \
    static constexpr int kCost = 4;                                                                  \
    coded(name) static void rows(const float* x, float* y, size_t n) { vector_math::name(x, y, n); } \
    static void rows(const double* x, double* y, size_t n) { vector_math::name(x, y, n); }           \
  };
// The same with a formula for complex numbers z, of parts of type T.
#define FLAMBEAU_FUNCTION(Name, name, coded, formula)                                                \
  struct Name {                                                                                      \
    static constexpr std::string_view kName = #name;                                                 \
    static constexpr int kCost = 4;                                                                  \
    coded(name) static void rows(const float* x, float* y, size_t n) { vector_math::name(x, y, n); } \
    static void rows(const double* x, double* y, size_t n) { vector_math::name(x, y, n); }           \
    template <typename T>                                                                            \
    std::complex<T> operator()(std::complex<T> z) const {                                            \
      return formula;                                                                                \
    }                                                                                                \
  };

// Digits near zero, which exp(z) - 1 would lose.
template <typename T>
std::complex<T> complex_expm1(std::complex<T> z) {
  const T half_sine = std::sin(z.imag() / T(2));
  const T real = std::expm1(z.real()) * std::cos(z.imag()) - T(2) * half_sine * half_sine;
  return {real, std::exp(z.real()) * std::sin(z.imag())};
}
template <typename T>
std::complex<T> complex_log1p(std::complex<T> z) {
  const T x = z.real();
  const T y = z.imag();
  const T squared = x * (T(2) + x) + y * y;  // |1 + z|^2 - 1
  const T real = std::abs(squared) < T(0.5) ? std::log1p(squared) / T(2) : std::log(std::abs(T(1) + z));
  return {real, std::atan2(y, T(1) + x)};
}
// Far from the origin cosh overflows where tanh is 1; std::tanh takes care of it, std::tan is made of it.
FLAMBEAU_FUNCTION(Exp, exp, FLAMBEAU_CODED, std::exp(z))
FLAMBEAU_FUNCTION(Exp2, exp2, FLAMBEAU_CODED_FLOAT, std::exp(z* T(0.6931471805599453094)))
FLAMBEAU_FUNCTION(Expm1, expm1, FLAMBEAU_CODED, complex_expm1(z))
FLAMBEAU_FUNCTION(Log, log, FLAMBEAU_CODED, std::log(z))
FLAMBEAU_FUNCTION(Log2, log2, FLAMBEAU_CODED_FLOAT, std::log(z) / T(0.6931471805599453094))
FLAMBEAU_FUNCTION(Log10, log10, FLAMBEAU_UNCODED, std::log10(z))
FLAMBEAU_FUNCTION(Log1p, log1p, FLAMBEAU_CODED, complex_log1p(z))
FLAMBEAU_FUNCTION(Sin, sin, FLAMBEAU_UNCODED, std::sin(z))
FLAMBEAU_FUNCTION(Cos, cos, FLAMBEAU_UNCODED, std::cos(z))
FLAMBEAU_FUNCTION(Tan, tan, FLAMBEAU_UNCODED, std::tan(z))
FLAMBEAU_FUNCTION(Asin, asin, FLAMBEAU_UNCODED, std::asin(z))
FLAMBEAU_FUNCTION(Acos, acos, FLAMBEAU_UNCODED, std::acos(z))
FLAMBEAU_FUNCTION(Atan, atan, FLAMBEAU_UNCODED, std::atan(z))
FLAMBEAU_FUNCTION(Sinh, sinh, FLAMBEAU_UNCODED, std::sinh(z))
FLAMBEAU_FUNCTION(Cosh, cosh, FLAMBEAU_UNCODED, std::cosh(z))
FLAMBEAU_FUNCTION(Tanh, tanh, FLAMBEAU_CODED, std::tanh(z))
FLAMBEAU_FUNCTION(Asinh, asinh, FLAMBEAU_UNCODED, std::asinh(z))
FLAMBEAU_FUNCTION(Acosh, acosh, FLAMBEAU_UNCODED, std::acosh(z))
FLAMBEAU_FUNCTION(Atanh, atanh, FLAMBEAU_UNCODED, std::atanh(z))
FLAMBEAU_FUNCTION(Sqrt, sqrt, FLAMBEAU_CODED, std::sqrt(z))
FLAMBEAU_FUNCTION(Rsqrt, rsqrt, FLAMBEAU_CODED, T(1) / std::sqrt(z))
FLAMBEAU_FUNCTION(Sigmoid, sigmoid, FLAMBEAU_CODED, T(1) / (T(1) + std::exp(-z)))
FLAMBEAU_REAL_FUNCTION(Erf, erf, FLAMBEAU_CODED)
FLAMBEAU_REAL_FUNCTION(Erfc, erfc, FLAMBEAU_UNCODED)

struct Atan2 {
  static constexpr std::string_view kName = "atan2";
  static constexpr int kCost = 8;
  static void rows(const float* a, const float* b, float* y, size_t n) { vector_math::atan2(a, b, y, n); }
  static void rows(const double* a, const double* b, double* y, size_t n) { vector_math::atan2(a, b, y, n); }
};
struct Hypot {
  static constexpr std::string_view kName = "hypot";
  static constexpr int kCost = 2;
  static void rows(const float* a, const float* b, float* y, size_t n) { vector_math::hypot(a, b, y, n); }
  static void rows(const double* a, const double* b, double* y, size_t n) { vector_math::hypot(a, b, y, n); }
};

struct Deg2Rad {
  static constexpr std::string_view kName = "deg2rad";
  template <RealNumber T>
  T operator()(T x) const {
    return x * T(0.017453292519943295769);
  }
};
struct Rad2Deg {
  static constexpr std::string_view kName = "rad2deg";
  template <RealNumber T>
  T operator()(T x) const {
    return x * T(57.295779513082320877);
  }
};
struct Sinc {
  static constexpr std::string_view kName = "sinc";
  static constexpr int kCost = 20;
  template <FloatingNumber T>
  T operator()(T x) const {
    if (x == T(0)) return T(1);
    const T angle = x * T(3.14159265358979323846);
    return std::sin(angle) / angle;
  }
};

// Weight 1: exp(max) (1 + exp(min - max)), in logarithms.
template <bool kBase2>
struct LogAddExp {
  static constexpr std::string_view kName = kBase2 ? "logaddexp2" : "logaddexp";
  static constexpr int kCost = 30;
  template <RealNumber T>
  T operator()(T a, T b) const {
    if (std::isinf(a) && a == b) return a;
    const T larger_one = a > b || a != a ? a : b;
    const T distance = -std::abs(a - b);
    if constexpr (kBase2) return larger_one + std::log1p(std::exp2(distance)) * T(1.4426950408889634074);
    return larger_one + std::log1p(std::exp(distance));
  }
  template <ComplexNumber T>
  T operator()(T a, T b) const {
    if constexpr (kBase2) {
      return T();
    } else {
      if (std::isnan(a.real()) || std::isnan(b.real())) return a + b;
      if (std::isinf(a.real()) && a.real() == b.real()) {
        if (a.real() < 0) return a;
        return std::log(std::exp(T(0, a.imag())) + std::exp(T(0, b.imag()))) + a.real();
      }
      const bool is_first_larger = a.real() >= b.real();
      const T larger_one = is_first_larger ? a : b;
      const T smaller_one = is_first_larger ? b : a;
      return larger_one + complex_log1p(std::exp(smaller_one - larger_one));
    }
  }
};
struct Xlogy {
  static constexpr std::string_view kName = "xlogy";
  static constexpr int kCost = 10;
  template <RealNumber T>
  T operator()(T a, T b) const {
    if (std::isnan(b)) return b;
    return a == T(0) ? T(0) : a * std::log(b);
  }
};
struct Xlog1py {
  static constexpr std::string_view kName = "xlog1py";
  static constexpr int kCost = 10;
  template <RealNumber T>
  T operator()(T a, T b) const {
    if (std::isnan(b)) return b;
    return a == T(0) ? T(0) : a * std::log1p(b);
  }
};

// Half-precision numbers are rounded after every step, as in PyTorch: near 1/2 the quotient decides.
struct Logit {
  static constexpr std::string_view kName = "logit";
  static constexpr int kCost = 12;
  double eps;  // negative: none
  DType dtype;
  template <RealNumber T>
  T rounded(T x) const {
    if (dtype == DType::kBFloat16) return BFloat16::from_float(static_cast<float>(x)).to_float();
    if (dtype == DType::kFloat16) return Float16::from_float(static_cast<float>(x)).to_float();
    return x;
  }
  template <RealNumber T>
  T operator()(T x) const {
    if (eps >= 0) {
      const T low = rounded(T(eps));
      const T high = rounded(T(1) - low);
      x = x < low ? low : (x > high ? high : x);
    }
    return std::log(rounded(x / rounded(T(1) - x)));
  }
};
Body logit(const Tensor& self, std::optional<double> eps, const Tensor& out) {
  return body_of(Logit::kName, Logit{eps.value_or(-1), out.dtype()}, out.dtype(), out, self);
}

#define FLAMBEAU_DEFINE(name, F) \
  elementwise<FloatType, unary<F>>(library, "aten::" name "(Tensor self) -> Tensor")
#define FLAMBEAU_DEFINE_TWO(name, F) \
  elementwise<PromotedFloatType, binary<F>>(library, "aten::" name "(Tensor self, Tensor other) -> Tensor")

// ---- as other operators
Tensor logaddexp_parts(Context& c, const Tensor& self, const Tensor& other) {
  const Tensor is_first = call(c, "aten::ge.Tensor", self, other);
  const Tensor most = parts::where(c, is_first, self, other);
  const Tensor least = parts::where(c, is_first, other, self);
  const Tensor is_unbounded = call(c, "aten::logical_not", call(c, "aten::isfinite", self));
  const Tensor is_same = call(c, "aten::logical_and", is_unbounded, call(c, "aten::eq.Tensor", self, other));
  const Tensor tail = call(c, "aten::log1p", call(c, "aten::exp", parts::sub(c, least, most)));
  return parts::where(c, is_same, self, parts::add(c, most, tail));
}
Tensor logaddexp2_parts(Context& c, const Tensor& self, const Tensor& other) {
  const Tensor is_first = call(c, "aten::ge.Tensor", self, other);
  const Tensor most = parts::where(c, is_first, self, other);
  const Tensor least = parts::where(c, is_first, other, self);
  const Tensor is_infinite = call(c, "aten::isinf", self);
  const Tensor is_equal = call(c, "aten::eq.Tensor", self, other);
  const Tensor is_same = call(c, "aten::logical_and", is_infinite, is_equal);
  const Tensor tail = call(c, "aten::log1p", call(c, "aten::exp2", parts::sub(c, least, most)));
  const Tensor sum = parts::add(c, most, parts::mul(c, tail, 1 / std::numbers::ln2));
  return parts::where(c, is_same, self, sum);
}
template <bool kPlusOne>
Tensor xlogy_parts(Context& c, const Tensor& self, const Tensor& other) {
  const Tensor is_zero = call(c, "aten::eq.Scalar", self, 0);
  const Tensor product = parts::mul(c, self, call(c, kPlusOne ? "aten::log1p" : "aten::log", other));
  const Tensor result = parts::where(c, is_zero, parts::scalar(c, 0, self), product);
  const Tensor is_nan = call(c, "aten::isnan", other);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return parts::where(c, is_nan, parts::scalar(c, nan, self), result);
}
Tensor deg2rad_parts(Context& c, const Tensor& self) { return parts::mul(c, self, std::numbers::pi / 180); }
Tensor rad2deg_parts(Context& c, const Tensor& self) { return parts::mul(c, self, 180 / std::numbers::pi); }
Tensor sinc_parts(Context& c, const Tensor& self) {
  const Tensor angle = parts::mul(c, self, std::numbers::pi);
  const Tensor is_zero = call(c, "aten::eq.Scalar", angle, 0);
  const Tensor ratio = parts::div(c, call(c, "aten::sin", angle), angle);
  return parts::where(c, is_zero, parts::scalar(c, 1, angle), ratio);
}
Tensor logit_parts(Context& c, const Tensor& self, std::optional<double> eps) {
  const double least = eps.value_or(-1.0);
  const double most = 1.0 - least;
  const Tensor is_low = call(c, "aten::lt.Scalar", self, least);
  const Tensor is_high = call(c, "aten::gt.Scalar", self, most);
  const Tensor below = parts::where(c, is_high, parts::scalar(c, most, self), self);
  const Tensor bounded = parts::where(c, is_low, parts::scalar(c, least, self), below);
  return call(c, "aten::log", parts::div(c, bounded, parts::sub(c, 1, bounded)));
}

}  // namespace

void define_functions(Library& library) {
  FLAMBEAU_DEFINE("exp", Exp);
  FLAMBEAU_DEFINE("exp2", Exp2);
  FLAMBEAU_DEFINE("expm1", Expm1);
  FLAMBEAU_DEFINE("log", Log);
  FLAMBEAU_DEFINE("log2", Log2);
  FLAMBEAU_DEFINE("log10", Log10);
  FLAMBEAU_DEFINE("log1p", Log1p);
  FLAMBEAU_DEFINE("sin", Sin);
  FLAMBEAU_DEFINE("cos", Cos);
  FLAMBEAU_DEFINE("tan", Tan);
  FLAMBEAU_DEFINE("asin", Asin);
  FLAMBEAU_DEFINE("acos", Acos);
  FLAMBEAU_DEFINE("atan", Atan);
  FLAMBEAU_DEFINE("sinh", Sinh);
  FLAMBEAU_DEFINE("cosh", Cosh);
  FLAMBEAU_DEFINE("tanh", Tanh).describe<plain_epilogue<Epilogue::Kind::kTanh>>();
  FLAMBEAU_DEFINE("asinh", Asinh);
  FLAMBEAU_DEFINE("acosh", Acosh);
  FLAMBEAU_DEFINE("atanh", Atanh);
  FLAMBEAU_DEFINE("arcsin", Asin).alias("aten::asin");
  FLAMBEAU_DEFINE("arccos", Acos).alias("aten::acos");
  FLAMBEAU_DEFINE("arctan", Atan).alias("aten::atan");
  FLAMBEAU_DEFINE("arcsinh", Asinh).alias("aten::asinh");
  FLAMBEAU_DEFINE("arccosh", Acosh).alias("aten::acosh");
  FLAMBEAU_DEFINE("arctanh", Atanh).alias("aten::atanh");
  FLAMBEAU_DEFINE("erf", Erf);
  FLAMBEAU_DEFINE("erfc", Erfc);
  FLAMBEAU_DEFINE("special_erf", Erf).alias("aten::erf");
  FLAMBEAU_DEFINE("special_erfc", Erfc).alias("aten::erfc");
  FLAMBEAU_DEFINE("special_exp2", Exp2).alias("aten::exp2");
  FLAMBEAU_DEFINE("special_expm1", Expm1).alias("aten::expm1");
  FLAMBEAU_DEFINE("special_log1p", Log1p).alias("aten::log1p");
  FLAMBEAU_DEFINE("special_expit", Sigmoid).alias("aten::sigmoid");
  FLAMBEAU_DEFINE("special_sinc", Sinc).alias("aten::sinc");
  FLAMBEAU_DEFINE("sqrt", Sqrt);
  FLAMBEAU_DEFINE("rsqrt", Rsqrt);
  FLAMBEAU_DEFINE("sigmoid", Sigmoid).describe<plain_epilogue<Epilogue::Kind::kSigmoid>>();
  FLAMBEAU_DEFINE("sinc", Sinc).core_decomposition<sinc_parts>();
  FLAMBEAU_DEFINE("deg2rad", Deg2Rad).core_decomposition<deg2rad_parts>();
  FLAMBEAU_DEFINE("rad2deg", Rad2Deg).core_decomposition<rad2deg_parts>();
  FLAMBEAU_DEFINE_TWO("atan2", Atan2);
  FLAMBEAU_DEFINE_TWO("arctan2", Atan2).alias("aten::atan2");
  elementwise<PromotedType, binary<Hypot>>(library, "aten::hypot(Tensor self, Tensor other) -> Tensor");
  FLAMBEAU_DEFINE_TWO("logaddexp", LogAddExp<false>).core_decomposition<logaddexp_parts>();
  FLAMBEAU_DEFINE_TWO("logaddexp2", LogAddExp<true>).core_decomposition<logaddexp2_parts>();
  FLAMBEAU_DEFINE_TWO("xlogy.Tensor", Xlogy).core_decomposition<xlogy_parts<false>>();
  FLAMBEAU_DEFINE_TWO("special_xlogy", Xlogy).alias("aten::xlogy.Tensor");
  FLAMBEAU_DEFINE_TWO("special_xlog1py", Xlog1py).core_decomposition<xlogy_parts<true>>();
  elementwise<NumberFloatType, binary_number<Xlogy>>(
      library, "aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor");
  elementwise<NumberFloatType, number_binary<Xlogy>>(
      library, "aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor");
  elementwise<NumberFloatType, binary_number<Xlogy>>(
      library, "aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor")
      .alias("aten::xlogy.Scalar_Other");
  elementwise<NumberFloatType, number_binary<Xlogy>>(
      library, "aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor")
      .alias("aten::xlogy.Scalar_Self");
  elementwise<NumberFloatType, binary_number<Xlog1py>>(
      library, "aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor");
  elementwise<NumberFloatType, number_binary<Xlog1py>>(
      library, "aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor");
  elementwise<FloatType, logit>(library, "aten::logit(Tensor self, float? eps=None) -> Tensor")
      .core_decomposition<logit_parts>();
  elementwise<FloatType, logit>(library, "aten::special_logit(Tensor self, float? eps=None) -> Tensor")
      .alias("aten::logit");
}

}  // namespace flambeau::ops
