#include "flambeau/ops/symbol/python_arithmetic.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/info.h"

namespace flambeau::ops::python {

void fail(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

int64_t checked(bool overflows, int64_t value) {
  if (overflows) fail("the result does not fit a 64-bit integer");
  return value;
}

std::optional<int64_t> integer(const Value& value) {
  if (const auto* const number = value.get_if<int64_t>()) return *number;
  if (const auto* const flag = value.get_if<bool>()) return *flag ? 1 : 0;
  return {};
}

int64_t require_integer(const Value& value) {
  const std::optional<int64_t> number = integer(value);
  if (!number) fail(fmt::format("expected an integer, got {} {}", value.kind_name(), value.summary()));
  return *number;
}

double real(const Value& value) {
  if (const auto* const number = value.get_if<double>()) return *number;
  if (const std::optional<int64_t> number = integer(value)) return static_cast<double>(*number);
  fail(fmt::format("expected a number, got {} {}", value.kind_name(), value.summary()));
}

bool truth(const Value& value) {
  if (const std::optional<int64_t> number = integer(value)) return *number != 0;
  return real(value) != 0;
}

namespace {
template <typename Integers, typename Reals>
Value arithmetic(Arguments arguments, Integers&& integers, Reals&& reals) {
  const std::optional<int64_t> a = integer(arguments[0]);
  const std::optional<int64_t> b = integer(arguments[1]);
  if (a && b) return integers(*a, *b);
  return reals(real(arguments[0]), real(arguments[1]));
}
}  // namespace

Value add(Arguments arguments) {
  return arithmetic(
      arguments,
      [](int64_t a, int64_t b) -> Value {
        int64_t sum = 0;
        const bool overflows = __builtin_add_overflow(a, b, &sum);
        return checked(overflows, sum);
      },
      [](double a, double b) -> Value { return a + b; });
}

Value subtract(Arguments arguments) {
  return arithmetic(
      arguments,
      [](int64_t a, int64_t b) -> Value {
        int64_t difference = 0;
        const bool overflows = __builtin_sub_overflow(a, b, &difference);
        return checked(overflows, difference);
      },
      [](double a, double b) -> Value { return a - b; });
}

Value multiply(Arguments arguments) {
  return arithmetic(
      arguments,
      [](int64_t a, int64_t b) -> Value {
        int64_t result = 0;
        const bool overflows = __builtin_mul_overflow(a, b, &result);
        return checked(overflows, result);
      },
      [](double a, double b) -> Value { return a * b; });
}

namespace {
// Python's float modulo has the divisor's sign.
double float_modulo(double a, double b) {
  if (b == 0) fail("float modulo by zero");
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  if ((rest < 0) != (b < 0)) rest += b;
  return rest;
}
}  // namespace

namespace {
double float_floor_div(double a, double b) {
  if (b == 0) fail("float floor division by zero");
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}
}  // namespace

Value floor_divide(Arguments arguments) {
  return arithmetic(
      arguments,
      [](int64_t a, int64_t b) -> Value {
        if (b == 0) fail("integer division or modulo by zero");
        if (b == -1) return checked(a == INT64_MIN, a == INT64_MIN ? 0 : -a);
        return symbolic::floor_div(a, b);
      },
      [](double a, double b) -> Value { return float_floor_div(a, b); });
}

Value remainder(Arguments arguments) {
  return arithmetic(
      arguments,
      [](int64_t a, int64_t b) -> Value {
        if (b == 0) fail("integer division or modulo by zero");
        return b == -1 ? int64_t{0} : symbolic::modulo(a, b);
      },
      [](double a, double b) -> Value { return float_modulo(a, b); });
}

Value true_divide(Arguments arguments) {
  const std::optional<int64_t> a = integer(arguments[0]);
  const std::optional<int64_t> b = integer(arguments[1]);
  if (a && b) {
    if (*b == 0) fail("division by zero");
    // Wide enough for both, so that large integers are rounded once.
    return static_cast<double>(static_cast<long double>(*a) / static_cast<long double>(*b));
  }
  if (real(arguments[1]) == 0) fail("float division by zero");
  return real(arguments[0]) / real(arguments[1]);
}

double float_power(double a, double b) {
  if (a == 0 && b < 0) fail("0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    fail("a negative number raised to a fraction is complex");
  }
  return std::pow(a, b);
}

Value power(Arguments arguments) {
  return arithmetic(
      arguments,
      [](int64_t a, int64_t b) -> Value {
        if (b < 0) return float_power(static_cast<double>(a), static_cast<double>(b));
        int64_t result = 1;
        bool overflows = false;
        bool square_overflows = false;
        for (; b != 0; b >>= 1) {
          if (b & 1) overflows = overflows || square_overflows || __builtin_mul_overflow(result, a, &result);
          if (b > 1) square_overflows = square_overflows || __builtin_mul_overflow(a, a, &a);
        }
        return checked(overflows, result);
      },
      [](double a, double b) -> Value { return float_power(a, b); });
}

Value shift_left(Arguments arguments) {
  const int64_t value = require_integer(arguments[0]);
  const int64_t count = require_integer(arguments[1]);
  if (count < 0) fail("negative shift count");
  if (value == 0) return int64_t{0};
  int64_t result = 0;
  const bool overflows = count > 62 || __builtin_mul_overflow(value, int64_t{1} << count, &result);
  return checked(overflows, result);
}

Value shift_right(Arguments arguments) {
  const int64_t value = require_integer(arguments[0]);
  const int64_t count = require_integer(arguments[1]);
  if (count < 0) fail("negative shift count");
  return value >> std::min<int64_t>(count, 63);
}

Value negate(Arguments arguments) {
  if (const std::optional<int64_t> number = integer(arguments[0]))
    return checked(*number == INT64_MIN, *number == INT64_MIN ? 0 : -*number);
  return -real(arguments[0]);
}

Value identity(Arguments arguments) {
  if (const std::optional<int64_t> number = integer(arguments[0])) return *number;
  return real(arguments[0]);
}

Value absolute(Arguments arguments) {
  if (const std::optional<int64_t> number = integer(arguments[0]))
    return checked(*number == INT64_MIN, *number < 0 && *number != INT64_MIN ? -*number : *number);
  return std::abs(real(arguments[0]));
}

}  // namespace flambeau::ops::python
