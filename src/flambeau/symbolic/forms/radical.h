// Roots of numbers: sqrt(12) is 2*sqrt(3), sqrt(2)*sqrt(3) is sqrt(6).
#pragma once

#include <vector>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

struct Root {
  Number base;      // positive rational or float
  Number exponent;  // positive rational, no integer
};

struct RadicalProduct {
  Number coefficient = Number(1);
  std::vector<Expr> parts;
};

// The product of the roots.
RadicalProduct multiply_roots(const std::vector<Root>& roots);

// base**exponent for a positive integer base and a positive fraction, as far as sympy evaluates it.
Expr integer_root(int64_t base, const Number& exponent);

}  // namespace flambeau::symbolic
