// The two texts of an expression.
#pragma once

#include <string>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// As sympy's str(): "2*s0 + 1", "((s0//4)) + 3", "Eq(s0, 4)".
std::string to_string(const Expr& expr);

// As sympy's srepr(): "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(1))". This is
// the form that .pt2 files hold.
std::string to_srepr(const Expr& expr);

}  // namespace flambeau::symbolic
