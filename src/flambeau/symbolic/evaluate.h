// The value of an expression, and putting expressions in place of symbols.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// Values by symbol name.
using Bindings = std::unordered_map<std::string, Number>;

// Python's arithmetic: floor division and modulo take the divisor's sign, true division gives a double.
// Throws Error(kNotFound) for a symbol without a value, Error(kInvalidArgument) for a division by zero,
// Error(kUnsupported) for a function nobody knows, Error(kLimit) when an integer leaves 64 bits.
Number evaluate(const Expr& expr, const Bindings& bindings);

// Whether there are functions in it that nobody knows, so that it has no value whatever its symbols are.
bool has_unknown_functions(const Expr& expr);

using Replacements = std::unordered_map<Expr, Expr, ExprHash>;

// Replaces whole subexpressions and builds what is around them again.
Expr substitute(const Expr& expr, const Replacements& replacements);

}  // namespace flambeau::symbolic
