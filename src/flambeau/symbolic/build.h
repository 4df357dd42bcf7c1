// Building expressions: every function gives the canonical form that sympy (and PyTorch's own sympy functions) would
// give for the same call. All throw Error(kLimit) when an integer leaves 64 bits or a size cap is reached, and
// Error(kInvalidArgument) where Python would raise (division by zero, a negative shift).
#pragma once

#include <string_view>
#include <vector>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

Expr symbol(std::string_view name, const Assumptions& assumptions);
// Assumptions by PyTorch's habit for that name: s0 is a positive integer, u0 an integer, zf0 and zuf0 are real.
Expr symbol(std::string_view name);
Expr boolean(bool value);
Expr infinity();      // oo
Expr int_infinity();  // int_oo

Expr add(std::vector<Expr> terms);
Expr add(const Expr& a, const Expr& b);
Expr subtract(const Expr& a, const Expr& b);
Expr negate(const Expr& a);
Expr mul(std::vector<Expr> factors);
Expr mul(const Expr& a, const Expr& b);
Expr divide(const Expr& a, const Expr& b);  // a * b**-1
Expr pow(const Expr& base, const Expr& exponent);

Expr floor_div(const Expr& base, const Expr& divisor);
Expr clean_div(const Expr& base, const Expr& divisor);
Expr ceil_div(const Expr& base, const Expr& divisor);
Expr mod(const Expr& p, const Expr& q);
Expr python_mod(const Expr& p, const Expr& q);
Expr modular_indexing(const Expr& base, const Expr& divisor, const Expr& modulus);
Expr max(std::vector<Expr> args);
Expr min(std::vector<Expr> args);
Expr where(const Expr& condition, const Expr& then, const Expr& otherwise);
// Pairs of value and condition, tried in order.
Expr piecewise(std::vector<std::pair<Expr, Expr>> pieces);
Expr abs(const Expr& value);
Expr floor(const Expr& value);
Expr ceiling(const Expr& value);
Expr to_float(const Expr& value);
Expr int_true_div(const Expr& a, const Expr& b);
Expr pow_by_natural(const Expr& base, const Expr& exponent);

Expr eq(const Expr& a, const Expr& b);
Expr ne(const Expr& a, const Expr& b);
Expr lt(const Expr& a, const Expr& b);
Expr le(const Expr& a, const Expr& b);
Expr gt(const Expr& a, const Expr& b);
Expr ge(const Expr& a, const Expr& b);
Expr and_(std::vector<Expr> args);
Expr or_(std::vector<Expr> args);
Expr not_(const Expr& arg);

// The function or class of this name, as in srepr ("FloorDiv", "StrictLessThan", "Max", "OpaqueUnaryFn_sqrt") or in
// str ("Eq", "sqrt"); a name nobody knows becomes a kFunction. Throws Error(kInvalidArgument) for a wrong number of
// arguments.
Expr apply(std::string_view name, std::vector<Expr> args);
// sympy's Function('name')(args).
Expr undefined_function(std::string_view name, std::vector<Expr> args);

// The same operation on other arguments, evaluated again.
Expr rebuild(const Expr& expr, std::vector<Expr> args);

}  // namespace flambeau::symbolic
