// The numbers an expression may hold, with sympy's arithmetic: integers and rationals are exact, floats are
// doubles, and there are two kinds of infinity (sympy's oo and PyTorch's int_oo).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flambeau::symbolic {

enum class NumberKind : uint8_t {
  kInteger,
  kRational,  // lowest terms, denominator > 1
  kFloat,     // finite
  kBoolean,   // only as the result of evaluate()
  kInfinity,
  kNegativeInfinity,
  kComplexInfinity,
  kNaN,
  kIntInfinity,
  kNegativeIntInfinity,
};

// Integers and the parts of rationals are 64-bit; an operation whose exact result does not fit throws
// Error(kLimit) and never wraps.
class Number {
 public:
  Number() = default;  // 0
  Number(int64_t value) : numerator_(value) {}
  Number(int value) : numerator_(value) {}
  // Lowest terms; a zero denominator gives zoo (or nan for 0/0), as in sympy.
  static Number rational(int64_t numerator, int64_t denominator);
  // Infinities and NaN become the kinds of that name.
  static Number real(double value);
  static Number boolean(bool value);
  static Number of_kind(NumberKind kind);  // for the infinities and NaN
  static Number int_infinity() { return of_kind(NumberKind::kIntInfinity); }

  NumberKind kind() const { return kind_; }
  bool is_integer() const { return kind_ == NumberKind::kInteger; }
  bool is_rational() const { return kind_ == NumberKind::kInteger || kind_ == NumberKind::kRational; }
  bool is_float() const { return kind_ == NumberKind::kFloat; }
  bool is_boolean() const { return kind_ == NumberKind::kBoolean; }
  bool is_nan() const { return kind_ == NumberKind::kNaN; }
  // Of either kind and sign, also zoo.
  bool is_infinite() const;
  bool is_finite() const { return is_rational() || is_float(); }
  // The literal integer `value`; 1.0 is not the literal 1.
  bool is(int64_t value) const { return is_integer() && numerator_ == value; }
  bool is_zero() const { return is_rational() ? numerator_ == 0 : is_float() && real_ == 0; }

  // The value of an integer, numerator of a rational, or 0/1 of a boolean.
  int64_t numerator() const { return numerator_; }
  int64_t denominator() const { return denominator_; }
  bool truth() const { return numerator_ != 0; }
  // Rounded to nearest; infinities of either kind become the double ones, zoo and nan become NaN.
  double to_double() const;
  // -1, 0 or 1; 0 also for nan and zoo.
  int sign() const;

  // Same kind and same value: 1 and 1.0 differ.
  bool operator==(const Number& other) const;
  uint64_t hash() const;

 private:
  NumberKind kind_ = NumberKind::kInteger;
  int64_t numerator_ = 0;
  int64_t denominator_ = 1;
  double real_ = 0;
};

Number add(const Number& a, const Number& b);
Number multiply(const Number& a, const Number& b);
Number negate(const Number& a);
// -1, 0, 1 by value; 0 when either is nan or zoo.
int compare(const Number& a, const Number& b);
// Finite numbers only. `exponent` may be negative for rationals other than zero.
Number power(const Number& base, int64_t exponent);
// Python's floor division and modulo; integers only, b != 0.
int64_t floor_divide(int64_t a, int64_t b);
int64_t floor_modulo(int64_t a, int64_t b);
// Non-negative; gcd(0, 0) is 0. 2^63 does not fit and throws Error(kLimit).
int64_t greatest_common_divisor(int64_t a, int64_t b);

}  // namespace flambeau::symbolic
