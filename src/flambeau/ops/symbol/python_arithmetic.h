// Python's arithmetic on plain numbers: of integers where both are, else of floats.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "flambeau/value/value.h"

namespace flambeau::ops::python {

using Arguments = std::span<const Value>;

[[noreturn]] void fail(const std::string& what);

// A bool counts as 0 or 1.
std::optional<int64_t> integer(const Value& value);
int64_t require_integer(const Value& value);
double real(const Value& value);
bool truth(const Value& value);
// What came out, unless the addition or the like overflowed.
int64_t checked(bool overflows, int64_t value);

Value add(Arguments arguments);
Value subtract(Arguments arguments);
Value multiply(Arguments arguments);
Value floor_divide(Arguments arguments);
Value remainder(Arguments arguments);
Value true_divide(Arguments arguments);
Value power(Arguments arguments);
Value shift_left(Arguments arguments);
Value shift_right(Arguments arguments);
Value negate(Arguments arguments);
Value identity(Arguments arguments);
Value absolute(Arguments arguments);
double float_power(double a, double b);

}  // namespace flambeau::ops::python
