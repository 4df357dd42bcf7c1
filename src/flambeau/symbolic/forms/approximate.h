// The value of a constant expression as a double, and the text of a number: helpers of ordering and sign
// questions.
#pragma once

#include <optional>
#include <string>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// Nothing when the expression holds symbols or has no finite real value.
std::optional<double> approximate(const Expr& expr);

// As sympy's str(): "3", "-1/2", "0.5", "oo", "int_oo".
std::string to_text(const Number& number);

}  // namespace flambeau::symbolic
