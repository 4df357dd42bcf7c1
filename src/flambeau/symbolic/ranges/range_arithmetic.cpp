#include "flambeau/symbolic/ranges/range_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "flambeau/base/error.h"

namespace flambeau::symbolic {
namespace {

Number infinity_of(bool is_int, bool is_positive) {
  if (is_int)
    return Number::of_kind(is_positive ? NumberKind::kIntInfinity : NumberKind::kNegativeIntInfinity);
  return Number::of_kind(is_positive ? NumberKind::kInfinity : NumberKind::kNegativeInfinity);
}

Number least(const Number& a, const Number& b) { return compare(a, b) <= 0 ? a : b; }
Number greatest(const Number& a, const Number& b) { return compare(a, b) >= 0 ? a : b; }

// A float end moves one step outwards, so that rounding never loses a value.
Number widen(const Number& number, bool is_upper) {
  if (!number.is_float()) return number;
  const double direction =
      is_upper ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  return Number::real(std::nextafter(number.to_double(), direction));
}

// What stands for an end beyond 64 bits, of that sign: an infinity outwards, the last integer inwards.
Number beyond(bool is_int, bool is_positive, bool is_upper) {
  if (is_positive == is_upper) return infinity_of(is_int, is_positive);
  using Limits = std::numeric_limits<int64_t>;
  return Number(is_positive ? Limits::max() : Limits::min());
}

// An operation on ends: nan (0*oo, oo - oo) and results beyond 64 bits become what keeps the range wide
// enough.
template <typename Operation>
Number end(bool is_int, bool is_upper, Operation&& operation) {
  try {
    const Number result = operation();
    if (result.is_nan() || result.kind() == NumberKind::kComplexInfinity)
      return infinity_of(is_int, is_upper);
    return widen(result, is_upper);
  } catch (const Error&) {
    return infinity_of(is_int, is_upper);
  }
}

// 0*oo is 0 here: the infinite end is only approached.
Number product(const Number& a, const Number& b) {
  if (a.is_zero() || b.is_zero()) return Number(0);
  return multiply(a, b);
}

template <typename Operation>
ValueRange over_corners(const ValueRange& a, const ValueRange& b, bool is_int, Operation&& operation) {
  std::optional<Number> low;
  std::optional<Number> high;
  for (const Number& x : {a.lower(), a.upper()}) {
    for (const Number& y : {b.lower(), b.upper()}) {
      const Number down = end(is_int, false, [&] { return operation(x, y, false); });
      const Number up = end(is_int, true, [&] { return operation(x, y, true); });
      low = low ? least(*low, down) : down;
      high = high ? greatest(*high, up) : up;
    }
  }
  return {*low, *high};
}

Number floor_quotient(const Number& a, const Number& b, bool /*is_upper*/) {
  if (a.is_infinite() && b.is_infinite()) return Number::of_kind(NumberKind::kNaN);
  if (b.is_infinite()) return Number(a.sign() * b.sign() < 0 ? -1 : 0);
  if (a.is_infinite()) return infinity_of(true, a.sign() * b.sign() > 0);
  return Number(floor_divide(a.numerator(), b.numerator()));
}

}  // namespace

ValueRange as_floats(const ValueRange& a) {
  const auto convert = [](const Number& number, bool is_upper) {
    if (number.is_infinite()) return infinity_of(false, number.sign() > 0);
    return widen(Number::real(number.to_double()), is_upper);
  };
  return {convert(a.lower(), false), convert(a.upper(), true)};
}

ValueRange add_ranges(const ValueRange& a, const ValueRange& b) {
  const bool is_int = a.is_int() && b.is_int();
  return {end(is_int, false, [&] { return add(a.lower(), b.lower()); }),
          end(is_int, true, [&] { return add(a.upper(), b.upper()); })};
}

ValueRange multiply_ranges(const ValueRange& a, const ValueRange& b) {
  const bool is_int = a.is_int() && b.is_int();
  // A corner beyond 64 bits may lie on either side, which its own sign says.
  return over_corners(a, b, is_int, [&](const Number& x, const Number& y, bool is_upper) {
    try {
      return product(x, y);
    } catch (const Error&) {
      return beyond(is_int, x.sign() * y.sign() > 0, is_upper);
    }
  });
}

ValueRange power_range(const ValueRange& a, int64_t exponent) {
  const bool is_int = a.is_int();
  const auto raise = [&](const Number& x, bool is_upper) {
    if (exponent == 0) return Number(1);
    const bool is_positive = x.sign() >= 0 || exponent % 2 == 0;
    if (x.is_infinite()) return infinity_of(is_int, is_positive);
    try {
      return widen(power(x, exponent), is_upper);
    } catch (const Error&) {
      return beyond(is_int, is_positive, is_upper);
    }
  };
  if (exponent % 2 != 0 || a.lower().sign() >= 0) return {raise(a.lower(), false), raise(a.upper(), true)};
  if (a.upper().sign() <= 0) return {raise(a.upper(), false), raise(a.lower(), true)};
  return {Number(exponent == 0 ? 1 : 0), greatest(raise(a.lower(), true), raise(a.upper(), true))};
}

ValueRange floor_divide_ranges(const ValueRange& a, const ValueRange& b) {
  if (!a.is_int() || !b.is_int()) return ValueRange::unknown_int();
  if (b.contains(Number(0))) {
    // The divisor's sign alone says something.
    if (b.lower().is_zero() && b.upper().is_zero()) return ValueRange::unknown_int();
    if (b.lower().is_zero()) return floor_divide_ranges(a, {Number(1), b.upper()});
    if (b.upper().is_zero()) return floor_divide_ranges(a, {b.lower(), Number(-1)});
    return floor_divide_ranges(a, {b.lower(), Number(-1)})
        .join(floor_divide_ranges(a, {Number(1), b.upper()}));
  }
  return over_corners(a, b, true, floor_quotient);
}

ValueRange modulo_ranges(const ValueRange& a, const ValueRange& b) {
  if (!a.is_int() || !b.is_int()) {
    const ValueRange size = absolute_range(as_floats(b));
    return {negate(size.upper()), size.upper()};
  }
  const auto below = [](const Number& number) {
    return number.is_infinite() ? number : add(number, Number(-1));
  };
  const auto above = [](const Number& number) {
    return number.is_infinite() ? number : add(number, Number(1));
  };
  const Number low = b.lower().sign() < 0 ? above(b.lower()) : Number(0);
  const Number high = b.upper().sign() > 0 ? below(b.upper()) : Number(0);
  if (a.lower().sign() >= 0 && b.lower().sign() >= 0) {
    // Small values pass unchanged.
    if (compare(a.upper(), b.lower()) < 0) return a;
    if (b.is_single() && a.lower().is_integer() && a.upper().is_integer() && b.lower().is_integer() &&
        b.lower().sign() > 0 &&
        a.lower().numerator() / b.lower().numerator() == a.upper().numerator() / b.lower().numerator())
      return {floor_modulo(a.lower().numerator(), b.lower().numerator()),
              floor_modulo(a.upper().numerator(), b.lower().numerator())};
    return {Number(0), least(high, a.upper())};
  }
  return {low, high};
}

ValueRange divide_ranges(const ValueRange& a, const ValueRange& b) {
  const ValueRange x = as_floats(a);
  const ValueRange y = as_floats(b);
  if (b.contains(Number(0))) return ValueRange::unknown();
  return over_corners(x, y, false, [](const Number& p, const Number& q, bool /*is_upper*/) {
    if (q.is_infinite()) return p.is_infinite() ? Number::of_kind(NumberKind::kNaN) : Number::real(0);
    if (p.is_infinite()) return infinity_of(false, p.sign() * q.sign() > 0);
    return Number::real(p.to_double() / q.to_double());
  });
}

ValueRange absolute_range(const ValueRange& a) {
  const bool is_int = a.is_int();
  const auto flip = [&](const Number& number) { return end(is_int, true, [&] { return negate(number); }); };
  if (a.lower().sign() >= 0) return a;
  if (a.upper().sign() <= 0) {
    const Number low = a.upper().is_infinite() ? infinity_of(is_int, true) : negate(a.upper());
    return {low, flip(a.lower())};
  }
  return {is_int ? Number(0) : Number::real(0), greatest(flip(a.lower()), a.upper())};
}

ValueRange extreme_range(Kind kind, const ValueRange& a, const ValueRange& b) {
  if (kind == Kind::kMax) return {greatest(a.lower(), b.lower()), greatest(a.upper(), b.upper())};
  return {least(a.lower(), b.lower()), least(a.upper(), b.upper())};
}

int compare_ranges_strict(const ValueRange& a, const ValueRange& b) {
  if (compare(a.upper(), b.lower()) < 0) return -1;
  if (compare(a.lower(), b.upper()) >= 0) return 1;
  return 0;
}

}  // namespace flambeau::symbolic
