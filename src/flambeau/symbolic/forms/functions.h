// The numeric meaning of PyTorch's sympy functions, shared by building, evaluating and bounding.
#pragma once

#include <optional>
#include <span>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// Python's p % q for finite numbers, q != 0.
Number python_modulo(const Number& p, const Number& q);
// base**exponent, or int_oo with the sign once it leaves 64 bits (as PyTorch does); exponent >= 0.
Number natural_power(int64_t base, int64_t exponent);

// The value of a function of numbers. Nothing when it does not evaluate there (an unknown function, an
// infinity it has no rule for). Throws Error(kInvalidArgument) for a division by zero and Error(kLimit)
// beyond 64 bits.
std::optional<Number> evaluate_function(Kind kind, std::string_view name, std::span<const Number> args);

// Floor, ceiling, truncation and Python's round-half-even of a finite number; Error(kLimit) beyond 64 bits.
Number round_number(Kind kind, const Number& value);

Expr left_shift(const Expr& base, const Expr& shift);
Expr right_shift(const Expr& base, const Expr& shift);

// a | b | c, joined one after the other as Python does, in linear time. At least two conditions.
Expr or_of_chain(const std::vector<Expr>& args);

}  // namespace flambeau::symbolic
