#include "flambeau/symbolic/number.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "flambeau/base/error.h"

namespace flambeau::symbolic {
namespace {

__extension__ typedef __int128 Wide;  // NOLINT: products of two 64-bit parts need it

[[noreturn]] void throw_too_large() {
  throw Error(ErrorCode::kLimit, "an integer of a symbolic expression does not fit 64 bits");
}

int64_t narrow(Wide value) {
  if (value > std::numeric_limits<int64_t>::max() || value < std::numeric_limits<int64_t>::min())
    throw_too_large();
  return static_cast<int64_t>(value);
}

Wide wide_gcd(Wide a, Wide b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

Number fraction(Wide numerator, Wide denominator) {
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  if (const Wide divisor = wide_gcd(numerator, denominator); divisor > 1) {
    numerator /= divisor;
    denominator /= divisor;
  }
  return Number::rational(narrow(numerator), narrow(denominator));
}

bool is_positive_infinity(const Number& number) {
  return number.kind() == NumberKind::kInfinity || number.kind() == NumberKind::kIntInfinity;
}

bool is_int_infinity(const Number& number) {
  return number.kind() == NumberKind::kIntInfinity || number.kind() == NumberKind::kNegativeIntInfinity;
}

// In sympy a float that comes out of arithmetic as zero is the integer.
Number zero_is_integer(double value) { return value == 0 ? Number(0) : Number::real(value); }

Number nan() { return Number::of_kind(NumberKind::kNaN); }

}  // namespace

Number Number::rational(int64_t numerator, int64_t denominator) {
  if (denominator == 0) return of_kind(numerator == 0 ? NumberKind::kNaN : NumberKind::kComplexInfinity);
  Wide top = numerator;
  Wide bottom = denominator;
  if (bottom < 0) {
    top = -top;
    bottom = -bottom;
  }
  const Wide divisor = wide_gcd(top, bottom);
  Number number(narrow(top / divisor));
  number.denominator_ = narrow(bottom / divisor);
  if (number.denominator_ != 1) number.kind_ = NumberKind::kRational;
  return number;
}

Number Number::real(double value) {
  if (std::isnan(value)) return of_kind(NumberKind::kNaN);
  if (std::isinf(value)) return of_kind(value > 0 ? NumberKind::kInfinity : NumberKind::kNegativeInfinity);
  Number number;
  number.kind_ = NumberKind::kFloat;
  number.real_ = value == 0 ? 0 : value;  // sympy has no negative zero
  return number;
}

Number Number::boolean(bool value) {
  Number number(static_cast<int64_t>(value));
  number.kind_ = NumberKind::kBoolean;
  return number;
}

Number Number::of_kind(NumberKind kind) {
  Number number;
  number.kind_ = kind;
  return number;
}

bool Number::is_infinite() const {
  return kind_ == NumberKind::kInfinity || kind_ == NumberKind::kNegativeInfinity ||
         kind_ == NumberKind::kComplexInfinity || is_int_infinity(*this);
}

double Number::to_double() const {
  switch (kind_) {
    case NumberKind::kInteger:
    case NumberKind::kBoolean:
      return static_cast<double>(numerator_);
    case NumberKind::kRational: {
      // Parts that a double holds exactly need one rounding; the rest have the 64 bits of a long double.
      constexpr int64_t kExact = int64_t{1} << 53;
      if (numerator_ < kExact && numerator_ > -kExact && denominator_ < kExact)
        return static_cast<double>(numerator_) / static_cast<double>(denominator_);
      return static_cast<double>(static_cast<long double>(numerator_) /
                                 static_cast<long double>(denominator_));
    }
    case NumberKind::kFloat:
      return real_;
    case NumberKind::kInfinity:
    case NumberKind::kIntInfinity:
      return std::numeric_limits<double>::infinity();
    case NumberKind::kNegativeInfinity:
    case NumberKind::kNegativeIntInfinity:
      return -std::numeric_limits<double>::infinity();
    case NumberKind::kComplexInfinity:
    case NumberKind::kNaN:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

int Number::sign() const {
  if (kind_ == NumberKind::kNaN || kind_ == NumberKind::kComplexInfinity) return 0;
  if (is_rational() || is_boolean()) return (numerator_ > 0) - (numerator_ < 0);
  const double value = to_double();
  return (value > 0) - (value < 0);
}

bool Number::operator==(const Number& other) const {
  return kind_ == other.kind_ && numerator_ == other.numerator_ && denominator_ == other.denominator_ &&
         real_ == other.real_;
}

uint64_t Number::hash() const {
  uint64_t bits = 0;
  std::memcpy(&bits, &real_, sizeof bits);
  uint64_t seed = static_cast<uint64_t>(kind_) * 0x9E3779B97F4A7C15u;
  for (const uint64_t part : {static_cast<uint64_t>(numerator_), static_cast<uint64_t>(denominator_), bits}) {
    seed = (seed ^ part) * 0xFF51AFD7ED558CCDu;
    seed ^= seed >> 32;
  }
  return seed;
}

Number add(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return nan();
  if (a.is_infinite() || b.is_infinite()) {
    if (!b.is_infinite()) return a;
    if (!a.is_infinite()) return b;
    if (a.kind() == NumberKind::kComplexInfinity || b.kind() == NumberKind::kComplexInfinity) return nan();
    // The stronger infinity wins: oo + -int_oo is oo.
    if (is_int_infinity(a) != is_int_infinity(b)) return is_int_infinity(a) ? b : a;
    return a == b ? a : nan();
  }
  if (a.is_float() || b.is_float()) {
    if (a.is(0)) return b;
    if (b.is(0)) return a;
    return zero_is_integer(a.to_double() + b.to_double());
  }
  return fraction(Wide{a.numerator()} * b.denominator() + Wide{b.numerator()} * a.denominator(),
                  Wide{a.denominator()} * b.denominator());
}

Number multiply(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return nan();
  if (a.is_infinite() || b.is_infinite()) {
    if (a.is_zero() || b.is_zero()) return nan();
    if (a.kind() == NumberKind::kComplexInfinity || b.kind() == NumberKind::kComplexInfinity)
      return Number::of_kind(NumberKind::kComplexInfinity);
    const Number& infinity = a.is_infinite() ? a : b;
    const bool positive = a.sign() * b.sign() > 0;
    return is_positive_infinity(infinity) == positive ? infinity : negate(infinity);
  }
  if (a.is(0) || b.is(0)) return Number(0);
  if (a.is_float() || b.is_float()) {
    if (a.is(1)) return b;
    if (b.is(1)) return a;
    return zero_is_integer(a.to_double() * b.to_double());
  }
  return fraction(Wide{a.numerator()} * b.numerator(), Wide{a.denominator()} * b.denominator());
}

Number negate(const Number& a) {
  switch (a.kind()) {
    case NumberKind::kInteger:
    case NumberKind::kRational:
    case NumberKind::kBoolean:
      return Number::rational(narrow(-Wide{a.numerator()}), a.denominator());
    case NumberKind::kFloat:
      return Number::real(-a.to_double());
    case NumberKind::kInfinity:
      return Number::of_kind(NumberKind::kNegativeInfinity);
    case NumberKind::kNegativeInfinity:
      return Number::of_kind(NumberKind::kInfinity);
    case NumberKind::kIntInfinity:
      return Number::of_kind(NumberKind::kNegativeIntInfinity);
    case NumberKind::kNegativeIntInfinity:
      return Number::of_kind(NumberKind::kIntInfinity);
    case NumberKind::kComplexInfinity:
    case NumberKind::kNaN:
      break;
  }
  return a;
}

int compare(const Number& a, const Number& b) {
  const auto exact = [](const Number& number) { return number.is_rational() || number.is_boolean(); };
  if (exact(a) && exact(b)) {
    const Wide left = Wide{a.numerator()} * b.denominator();
    const Wide right = Wide{b.numerator()} * a.denominator();
    return (left > right) - (left < right);
  }
  const auto rank = [](const Number& number) {
    switch (number.kind()) {
      case NumberKind::kInfinity:
        return 2;
      case NumberKind::kIntInfinity:
        return 1;
      case NumberKind::kNegativeIntInfinity:
        return -1;
      case NumberKind::kNegativeInfinity:
        return -2;
      default:
        return 0;
    }
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  if (rank(a) != 0) return 0;
  const double x = a.to_double();
  const double y = b.to_double();
  if (x == y && a.is_integer() != b.is_integer() && std::fabs(x) < 9.2e18) {
    // A large integer may round to the float it is compared with.
    const auto whole = [](const Number& number, double value) {
      return number.is_integer() ? Wide{number.numerator()} : static_cast<Wide>(value);
    };
    const Wide left = whole(a, x);
    const Wide right = whole(b, y);
    return (left > right) - (left < right);
  }
  return (x > y) - (x < y);
}

Number power(const Number& base, int64_t exponent) {
  if (base.is_float()) return Number::real(std::pow(base.to_double(), static_cast<double>(exponent)));
  if (exponent < 0) {
    if (exponent == std::numeric_limits<int64_t>::min()) throw_too_large();
    return power(Number::rational(base.denominator(), base.numerator()), -exponent);
  }
  Number result(1);
  Number square = base;
  // 0, 1 and -1 are the only bases whose powers never leave 64 bits; the others stop the loop soon.
  if (base.is(0) || base.is(1)) return exponent == 0 ? Number(1) : base;
  if (base.is(-1)) return Number(exponent % 2 == 0 ? 1 : -1);
  while (true) {
    if (exponent % 2 != 0) result = multiply(result, square);
    exponent /= 2;
    if (exponent == 0) return result;
    square = multiply(square, square);
  }
}

int64_t floor_divide(int64_t a, int64_t b) {
  const Wide quotient = Wide{a} / b;
  const bool inexact = Wide{a} % b != 0;
  return narrow(inexact && ((a < 0) != (b < 0)) ? quotient - 1 : quotient);
}

int64_t floor_modulo(int64_t a, int64_t b) {
  const Wide rest = Wide{a} % b;
  return static_cast<int64_t>(rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest);
}

int64_t greatest_common_divisor(int64_t a, int64_t b) { return narrow(wide_gcd(a, b)); }

}  // namespace flambeau::symbolic
