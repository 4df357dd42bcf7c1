// Functions of numbers.
#include <cmath>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"

namespace flambeau::interpreter {

int64_t whole(double value) {
  if (!(value >= -0x1p63 && value <= 0x1p63)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("Cannot convert float {:f} to integer", value));
  }
  // 2^63 itself passes PyTorch's check, and becomes what x86 makes of it.
  return value == 0x1p63 ? INT64_MIN : static_cast<int64_t>(value);
}

namespace {

// A function of a Scalar goes through a float of 32 bits, and an int of 32: a quirk of PyTorch's.
IValue narrowed(double value) { return static_cast<double>(static_cast<float>(value)); }
IValue narrowed(Complex value) { return value; }

#define FLAMBEAU_FUNCTION(type, function) \
  struct type {                           \
    static double of(double a) { return function(a); }

#define FLAMBEAU_REAL(type, function) \
  FLAMBEAU_FUNCTION(type, function)   \
  }                                   \
  ;
#define FLAMBEAU_COMPLEX(type, function)               \
  FLAMBEAU_FUNCTION(type, function)                    \
  static Complex of(Complex a) { return function(a); } \
  }                                                    \
  ;

FLAMBEAU_COMPLEX(Exponential, std::exp)
FLAMBEAU_COMPLEX(Logarithm, std::log)
FLAMBEAU_COMPLEX(Logarithm10, std::log10)
FLAMBEAU_COMPLEX(SquareRoot, std::sqrt)
FLAMBEAU_COMPLEX(Sine, std::sin)
FLAMBEAU_COMPLEX(Cosine, std::cos)
FLAMBEAU_COMPLEX(Tangent, std::tan)
FLAMBEAU_COMPLEX(ArcSine, std::asin)
FLAMBEAU_COMPLEX(ArcCosine, std::acos)
FLAMBEAU_COMPLEX(ArcTangent, std::atan)
FLAMBEAU_COMPLEX(HyperbolicSine, std::sinh)
FLAMBEAU_COMPLEX(HyperbolicCosine, std::cosh)
FLAMBEAU_COMPLEX(HyperbolicTangent, std::tanh)
FLAMBEAU_COMPLEX(AreaSine, std::asinh)
FLAMBEAU_COMPLEX(AreaCosine, std::acosh)
FLAMBEAU_COMPLEX(AreaTangent, std::atanh)
FLAMBEAU_REAL(Logarithm1p, std::log1p)
FLAMBEAU_REAL(Exponential1, std::expm1)
FLAMBEAU_REAL(ErrorFunction, std::erf)
FLAMBEAU_REAL(ErrorComplement, std::erfc)
FLAMBEAU_REAL(Gamma, std::tgamma)
FLAMBEAU_REAL(LogGamma, std::lgamma)
FLAMBEAU_REAL(Magnitude, std::fabs)
FLAMBEAU_REAL(Nearest, std::nearbyint)  // halves to even

#undef FLAMBEAU_FUNCTION
#undef FLAMBEAU_REAL
#undef FLAMBEAU_COMPLEX

struct Degrees {
  static double of(double a) { return a * (180.0 / std::acos(-1.0)); }
};
struct Radians {
  static double of(double a) { return a * (std::acos(-1.0) / 180.0); }
};

template <typename Op>
void define_function(const Definer& define, const std::string& name) {
  define(name + ".int", [](int64_t a) { return Op::of(static_cast<double>(a)); });
  define(name + ".float", [](double a) { return Op::of(a); });
  if constexpr (requires { Op::of(Complex()); })
    define(name + ".complex", [](Complex a) { return Op::of(a); });
  define(name + ".Scalar", [](const IValue& a) {
    if constexpr (requires { Op::of(Complex()); }) {
      if (a.is(IValue::Tag::kComplex)) return narrowed(Op::of(a.as_complex()));
    }
    return narrowed(Op::of(float_of(a)));
  });
}

struct FloatRemainder {
  static double of(double a, double b) { return std::fmod(a, b); }
};
struct IeeeRemainder {
  static double of(double a, double b) { return std::remainder(a, b); }
};
struct CopySign {
  static double of(double a, double b) { return std::copysign(a, b); }
};
struct ArcTangent2 {
  static double of(double a, double b) { return std::atan2(a, b); }
};
struct Polar {
  static Complex of(double a, double b) { return {a * std::cos(b), a * std::sin(b)}; }
};

// Both become floats, whatever they are.
template <typename Op>
void define_pair(const Definer& define, const std::string& name, const std::string& scalars) {
  define(name + ".int",
         [](int64_t a, int64_t b) { return Op::of(static_cast<double>(a), static_cast<double>(b)); });
  define(name + ".float", [](double a, double b) { return Op::of(a, b); });
  define(name + ".int_float", [](int64_t a, double b) { return Op::of(static_cast<double>(a), b); });
  define(name + ".float_int", [](double a, int64_t b) { return Op::of(a, static_cast<double>(b)); });
  define(name + scalars, [](const IValue& a, const IValue& b) { return Op::of(float_of(a), float_of(b)); });
}

void define_logarithms(const Definer& define) {
  static constexpr auto real = [](double a, double base) { return std::log(a) / std::log(base); };
  static constexpr auto over = [](Complex a, Complex base) { return divided(a, base); };
  define("aten::log.int_int",
         [](int64_t a, int64_t b) { return real(static_cast<double>(a), static_cast<double>(b)); });
  define("aten::log.float_float", [](double a, double b) { return real(a, b); });
  define("aten::log.int_float", [](int64_t a, double b) { return real(static_cast<double>(a), b); });
  define("aten::log.float_int", [](double a, int64_t b) { return real(a, static_cast<double>(b)); });
  define("aten::log.Scalar_Scalar",
         [](const IValue& a, const IValue& b) { return real(float_of(a), float_of(b)); });
  define("aten::log.complex_complex", [](Complex a, Complex b) { return over(std::log(a), std::log(b)); });
  define("aten::log.complex_float", [](Complex a, double b) { return std::log(a) / std::log(b); });
  define("aten::log.complex_int",
         [](Complex a, int64_t b) { return std::log(a) / std::log(static_cast<double>(b)); });
  define("aten::log.float_complex", [](double a, Complex b) { return over(std::log(a), std::log(b)); });
  define("aten::log.int_complex",
         [](int64_t a, Complex b) { return over(std::log(static_cast<double>(a)), std::log(b)); });
}

void define_signs(const Definer& define) {
  static constexpr auto opposite = [](int64_t a) {
    return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  };
  define("aten::neg.int", [](int64_t a) { return opposite(a); });
  define("aten::neg.float", [](double a) { return -a; });
  define("aten::neg.complex", [](Complex a) { return -a; });
  define("aten::neg.Scalar", [](const IValue& a) {
    if (a.is(IValue::Tag::kComplex)) return IValue(-a.as_complex());
    if (a.is(IValue::Tag::kFloat)) return narrowed(-a.as_float());
    return IValue(int64_t{static_cast<int32_t>(opposite(a.as_int()))});
  });
  define("prim::abs.int", [](int64_t a) { return a < 0 ? opposite(a) : a; });
  define("prim::abs.float", [](double a) { return std::fabs(a); });
  define("prim::abs.complex", [](Complex a) { return std::abs(a); });
  define("prim::abs.Scalar", [](const IValue& a) {
    if (a.is(IValue::Tag::kComplex)) return narrowed(std::abs(a.as_complex()));
    if (a.is(IValue::Tag::kFloat)) return narrowed(std::fabs(a.as_float()));
    const int64_t number = a.as_int();
    return IValue(int64_t{static_cast<int32_t>(number < 0 ? opposite(number) : number)});
  });
  define("aten::angle.int", [](int64_t a) { return std::arg(static_cast<double>(a)); });
  define("aten::angle.float", [](double a) { return std::arg(a); });
  define("aten::angle.complex", [](Complex a) { return std::arg(a); });
  define("aten::angle.Scalar", [](const IValue& a) {
    return narrowed(with_number(a, [](auto number) { return std::arg(number); }));
  });
}

void define_whole(const Definer& define) {
  define("aten::floor.int", [](int64_t a) { return a; });
  define("aten::floor.float", [](double a) { return whole(std::floor(a)); });
  define("aten::ceil.int", [](int64_t a) { return a; });
  define("aten::ceil.float", [](double a) { return whole(std::ceil(a)); });
  static constexpr auto scalar = [](const IValue& a, double (*function)(double)) {
    const int64_t result = a.is(IValue::Tag::kFloat) ? whole(function(a.as_float())) : a.as_int();
    return int64_t{static_cast<int32_t>(result)};
  };
  define("aten::floor.Scalar", [](const IValue& a) { return scalar(a, std::floor); });
  define("aten::ceil.Scalar", [](const IValue& a) { return scalar(a, std::ceil); });
}

void define_parts(const Definer& define) {
  define("aten::isnan.float", [](double a) { return std::isnan(a); });
  define("aten::isinf.float", [](double a) { return std::isinf(a); });
  define("aten::isfinite.float", [](double a) { return std::isfinite(a); });
  define("aten::isnan.complex", [](Complex a) { return std::isnan(a.real()) || std::isnan(a.imag()); });
  define("aten::isinf.complex", [](Complex a) { return std::isinf(a.real()) || std::isinf(a.imag()); });
  define("aten::isfinite.complex",
         [](Complex a) { return std::isfinite(a.real()) && std::isfinite(a.imag()); });
  define("aten::modf", [](double a) {
    double integral = 0;
    const double fraction = std::modf(a, &integral);
    return std::tuple(fraction, integral);
  });
  define("aten::frexp", [](double a) {
    int exponent = 0;
    const double mantissa = std::frexp(a, &exponent);
    return std::tuple(mantissa, int64_t{exponent});
  });
  define("aten::ldexp", [](double a, int64_t exponent) { return std::ldexp(a, static_cast<int>(exponent)); });
}

}  // namespace

void define_mathematics(Builtins& builtins) {
  const Definer define(builtins);
  define_function<Exponential>(define, "aten::exp");
  define_function<Logarithm>(define, "aten::log");
  define_function<Logarithm10>(define, "aten::log10");
  define_function<SquareRoot>(define, "aten::sqrt");
  define_function<Sine>(define, "aten::sin");
  define_function<Cosine>(define, "aten::cos");
  define_function<Tangent>(define, "aten::tan");
  define_function<ArcSine>(define, "aten::asin");
  define_function<ArcCosine>(define, "aten::acos");
  define_function<ArcTangent>(define, "aten::atan");
  define_function<HyperbolicSine>(define, "aten::sinh");
  define_function<HyperbolicCosine>(define, "aten::cosh");
  define_function<HyperbolicTangent>(define, "aten::tanh");
  define_function<AreaSine>(define, "aten::asinh");
  define_function<AreaCosine>(define, "aten::acosh");
  define_function<AreaTangent>(define, "aten::atanh");
  define_function<Logarithm1p>(define, "aten::log1p");
  define_function<Exponential1>(define, "aten::expm1");
  define_function<ErrorFunction>(define, "aten::erf");
  define_function<ErrorComplement>(define, "aten::erfc");
  define_function<Gamma>(define, "aten::gamma");
  define_function<LogGamma>(define, "aten::lgamma");
  define_function<Magnitude>(define, "aten::fabs");
  define_function<Nearest>(define, "aten::round");
  define_function<Degrees>(define, "aten::degrees");
  define_function<Radians>(define, "aten::radians");
  define_pair<FloatRemainder>(define, "aten::fmod", "");
  define_pair<IeeeRemainder>(define, "aten::mathremainder", "");
  define_pair<CopySign>(define, "aten::copysign", "");
  define_pair<ArcTangent2>(define, "aten::atan2", ".Scalar_Scalar");
  define_pair<Polar>(define, "aten::polar", ".Scalar_Scalar");
  define_logarithms(define);
  define_signs(define);
  define_whole(define);
  define_parts(define);
}

}  // namespace flambeau::interpreter
