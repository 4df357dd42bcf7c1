// Taking sums, products and powers apart, as sympy's as_* methods do.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

struct Coefficient {
  Number number;
  Expr rest;
};

// c*rest with a number c (1 when there is none); a number is itself times 1.
Coefficient split_coefficient(const Expr& expr);
// c + rest with a number c (0 when there is none).
Coefficient split_constant(const Expr& expr);

struct Power {
  Expr base;
  Expr exponent;
};
Power split_power(const Expr& expr);

// The terms of an Add, or the expression alone; likewise for Mul.
std::span<const Expr> terms_of(const Expr& expr);
std::span<const Expr> factors_of(const Expr& expr);

struct Fraction {
  Expr numerator;
  Expr denominator;
};
// Denominator: the factors with a negative number in the exponent. Not put over one denominator: for a
// product.
Fraction split_fraction(const Expr& expr);

// Does the expression, multiplied by -1, look simpler? sympy decides by it where to print a minus sign.
bool could_extract_minus_sign(const Expr& expr);

// A Mul or Add of these arguments as they are; the argument alone when there is one.
Expr raw_mul(std::vector<Expr> args);
Expr raw_add(std::vector<Expr> args);
// coefficient*factors without distributing over a sum.
Expr keep_coefficient(const Number& coefficient, const Expr& factors);

}  // namespace flambeau::symbolic
