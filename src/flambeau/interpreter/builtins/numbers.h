// Arithmetic as TorchScript has it: integers of 64 bits that wrap, division to minus infinity, errors where
// PyTorch's process would die.
#pragma once

#include <complex>
#include <cstdint>

#include "flambeau/interpreter/builtins/boxing.h"

namespace flambeau::interpreter {

using Complex = std::complex<double>;

template <typename T>
constexpr bool kIsComplex = std::is_same_v<T, Complex>;

// Calls body(a, b) with the numbers in their own kinds: int64_t, double or Complex. A bool counts as an int.
template <typename Body>
auto with_number(const IValue& value, Body&& body) {
  switch (value.tag()) {
    case IValue::Tag::kFloat:
      return body(value.as_float());
    case IValue::Tag::kComplex:
      return body(value.as_complex());
    case IValue::Tag::kBool:
      return body(int64_t{value.as_bool()});
    default:
      return body(value.as_int());
  }
}

// c10's formulas, which care for no infinities inside of complex numbers as the standard library does.
Complex times(Complex a, Complex b);
Complex divided(Complex a, Complex b);

// Throws Error(kInvalidArgument).
[[noreturn, gnu::cold]] void fail_zero_division();
// Rounds to minus infinity.
int64_t floor_divide(int64_t a, int64_t b);
// Has the sign of the divisor.
int64_t floor_remainder(int64_t a, int64_t b);
// A float without its fraction, as an int: throws Error(kInvalidArgument) for one that does not fit.
int64_t whole(double value);

void define_arithmetic(Builtins& builtins);
void define_comparisons(Builtins& builtins);
void define_mathematics(Builtins& builtins);
void define_casts(Builtins& builtins);
void define_strings(Builtins& builtins);
void define_string_searches(Builtins& builtins);
void define_formats(Builtins& builtins);
void define_lists(Builtins& builtins);
void define_list_orders(Builtins& builtins);
void define_dicts(Builtins& builtins);
void define_tensor_facts(Builtins& builtins);
void define_tensor_states(Builtins& builtins);
void define_tensor_makers(Builtins& builtins);
void define_tensor_calls(Builtins& builtins);
void define_resizing(Builtins& builtins);
void define_values(Builtins& builtins);
void define_surroundings(Builtins& builtins);

}  // namespace flambeau::interpreter
