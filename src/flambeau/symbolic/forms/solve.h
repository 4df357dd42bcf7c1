// Solving a relation for one of its parts.
#pragma once

#include <optional>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

struct Solution {
  Kind kind;   // of the relation, with the part on its left
  Expr right;  // what the part is related to; may be no integer
};

// Brings `part` alone to the left side by moving terms and factors. Nothing when it occurs on both sides,
// more than once, or inside a function. With `opens_division`, a // b < c becomes a < b*c.
std::optional<Solution> solve_for(const Expr& relation, const Expr& part, bool opens_division = true);

}  // namespace flambeau::symbolic
