// Common divisors of expressions, as far as floor divisions need them.
#pragma once

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// The greatest integer that divides all terms of both, times the factors of q that stand in every term of p.
Expr simple_common_divisor(const Expr& p, const Expr& q);

// The common divisor of polynomials where it is a product of an integer and powers, or all of q. Gives 1 when
// it is harder to find than that.
Expr common_divisor(const Expr& p, const Expr& q);

// p / divisor, term by term.
Expr divide_terms(const Expr& p, const Expr& divisor);

}  // namespace flambeau::symbolic
