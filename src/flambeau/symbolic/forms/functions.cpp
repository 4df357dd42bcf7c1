#include "flambeau/symbolic/forms/functions.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/require.h"
#include "flambeau/symbolic/stride_check.h"

namespace flambeau::symbolic {
namespace {

int64_t to_integer(double value) {
  if (!(value >= -0x1p63 && value < 0x1p63))
    throw Error(ErrorCode::kLimit, fmt::format("{} rounded to an integer does not fit 64 bits", value));
  return static_cast<int64_t>(value);
}

// Python rounds halves to even, on the decimal value; digits beyond what a double has leave it as it is.
double round_decimal(double value, int64_t digits) {
  if (digits > 17 || value == 0) return value;
  if (digits < -308) return 0;
  if (digits >= 0) return std::stod(fmt::format("{:.{}f}", value, static_cast<int>(digits)));
  const double scale = std::pow(10.0, static_cast<double>(-digits));
  return std::nearbyint(value / scale) * scale;
}

std::optional<Number> opaque_unary(std::string_view name, const Number& value) {
  if (!value.is_integer() && !value.is_float()) return std::nullopt;
  const double x = value.to_double();
  const auto refuse = [&] {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} of {} is undefined", name, x));
  };
  const std::string_view which = name.substr(name.find('_') + 1);
  double result = 0;
  if (which == "sqrt") {
    if (x < 0) refuse();
    result = std::sqrt(x);
  } else if (which == "cos") {
    result = std::cos(x);
  } else if (which == "cosh") {
    result = std::cosh(x);
  } else if (which == "sin") {
    result = std::sin(x);
  } else if (which == "sinh") {
    result = std::sinh(x);
  } else if (which == "tan") {
    result = std::tan(x);
  } else if (which == "tanh") {
    result = std::tanh(x);
  } else if (which == "asin" || which == "acos") {
    if (x < -1 || x > 1) refuse();
    result = which == "asin" ? std::asin(x) : std::acos(x);
  } else if (which == "atan") {
    result = std::atan(x);
  } else if (which == "asinh") {
    result = std::asinh(x);
  } else if (which == "exp") {
    result = std::exp(x);
  } else if (which == "log" || which == "log2") {
    if (x <= 0) refuse();
    result = which == "log" ? std::log(x) : std::log2(x);
  } else {
    return std::nullopt;
  }
  return Number::real(result);
}

Number true_divide(std::string_view name, const Number& a, const Number& b) {
  if (b.is_zero()) throw_division_by_zero(name);
  if (a.is_integer() && b.is_integer())
    return Number::real(Number::rational(a.numerator(), b.numerator()).to_double());
  return Number::real(a.to_double() / b.to_double());
}

}  // namespace

Number python_modulo(const Number& p, const Number& q) {
  if (p.is_integer() && q.is_integer()) return Number(floor_modulo(p.numerator(), q.numerator()));
  if (p.is_infinite() || q.is_infinite() || p.is_nan() || q.is_nan())
    return Number::of_kind(NumberKind::kNaN);
  if (p.is_float() || q.is_float()) {
    const double x = p.to_double();
    const double y = q.to_double();
    double rest = std::fmod(x, y);
    if (rest != 0 && ((rest < 0) != (y < 0))) rest += y;
    return Number::real(rest);
  }
  const Number ratio = multiply(p, power(q, -1));
  const Number whole(floor_divide(ratio.numerator(), ratio.denominator()));
  return add(p, negate(multiply(q, whole)));
}

Number natural_power(int64_t base, int64_t exponent) {
  try {
    return power(Number(base), exponent);
  } catch (const Error&) {
    const bool negative = base < 0 && exponent % 2 != 0;
    return Number::of_kind(negative ? NumberKind::kNegativeIntInfinity : NumberKind::kIntInfinity);
  }
}

Number round_number(Kind kind, const Number& value) {
  if (value.is_integer()) return value;
  if (value.is_rational() && (kind == Kind::kFloor || kind == Kind::kCeiling)) {
    const int64_t low = floor_divide(value.numerator(), value.denominator());
    return Number(kind == Kind::kFloor ? low : low + 1);
  }
  const double x = value.to_double();
  switch (kind) {
    case Kind::kFloor:
    case Kind::kFloorToInt:
      return Number(to_integer(std::floor(x)));
    case Kind::kCeiling:
    case Kind::kCeilToInt:
      return Number(to_integer(std::ceil(x)));
    case Kind::kRoundToInt:
      return Number(to_integer(std::nearbyint(x)));
    default:
      return Number(to_integer(std::trunc(x)));
  }
}

std::optional<Number> evaluate_function(Kind kind, std::string_view name, std::span<const Number> args) {
  const Number& a = args[0];
  const bool is_float_infinity =
      a.kind() == NumberKind::kInfinity || a.kind() == NumberKind::kNegativeInfinity;
  const auto int_infinity_of = [](const Number& number) {
    return Number::of_kind(number.sign() > 0 ? NumberKind::kIntInfinity : NumberKind::kNegativeIntInfinity);
  };
  switch (kind) {
    case Kind::kCeilToInt:
    case Kind::kFloorToInt:
    case Kind::kTruncToInt:
    case Kind::kRoundToInt:
      if (a.is_nan() || a.kind() == NumberKind::kComplexInfinity) return std::nullopt;
      if (a.is_infinite()) return int_infinity_of(a);
      if (kind == Kind::kFloorToInt || !a.is_integer()) return round_number(kind, a);
      return a;
    case Kind::kCeiling:
    case Kind::kFloor:
      if (a.is_infinite() || a.is_nan()) return a;
      return round_number(kind, a);
    case Kind::kTruncToFloat:
      if (is_float_infinity) return a;
      return a.is_nan() ? std::nullopt : std::optional(Number::real(std::trunc(a.to_double())));
    case Kind::kToFloat:
      if (is_float_infinity) return a;
      if (a.is_infinite() && a.kind() != NumberKind::kComplexInfinity) return Number::real(a.to_double());
      if (a.is_integer() || a.is_boolean()) return Number::real(a.to_double());
      return std::nullopt;
    case Kind::kIntTrueDiv:
    case Kind::kFloatTrueDiv:
      return true_divide(name, a, args[1]);
    case Kind::kFloatPow: {
      const double x = a.to_double();
      const double y = args[1].to_double();
      if (x == 0 && y < 0) throw_division_by_zero(name);
      if (x < 0 && std::floor(y) != y) throw_complex(name);
      return Number::real(std::pow(x, y));
    }
    case Kind::kRoundDecimal:
      if (!args[1].is_integer()) return std::nullopt;
      return a.is_finite() ? Number::real(round_decimal(a.to_double(), args[1].numerator())) : a;
    case Kind::kAbs:
      if (a.kind() == NumberKind::kComplexInfinity) return Number::of_kind(NumberKind::kInfinity);
      return a.sign() < 0 ? negate(a) : a;
    case Kind::kOpaqueUnary:
      return opaque_unary(name, a);
    case Kind::kBitwiseAnd:
    case Kind::kBitwiseOr:
    case Kind::kBitwiseXor: {
      const Number& b = args[1];
      const auto is_bits = [](const Number& number) { return number.is_integer() || number.is_boolean(); };
      if (!is_bits(a) || !is_bits(b)) return std::nullopt;
      const int64_t x = a.numerator();
      const int64_t y = b.numerator();
      const int64_t bits = kind == Kind::kBitwiseAnd ? x & y : kind == Kind::kBitwiseOr ? x | y : x ^ y;
      return a.is_boolean() && b.is_boolean() ? Number::boolean(bits != 0) : Number(bits);
    }
    case Kind::kIsNonOverlappingAndDense:
      return is_non_overlapping_and_dense(args);
    default:
      return std::nullopt;
  }
}

}  // namespace flambeau::symbolic
