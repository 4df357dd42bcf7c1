// Conditions in the one form in which equal ones are equal, and what follows from one.
#pragma once

#include <utility>
#include <vector>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// Products of sums and powers of sums become sums of products, everywhere within.
Expr expand(const Expr& expr);

// Relations become ==, !=, < and <= with positive terms only on either side and no common factor: 4 - 2*a > 0
// is a < 2. Ands and ors go into conjunctive form. Relations are not evaluated.
Expr canonical_condition(const Expr& condition);

// Conditions in canonical form that a true condition decides: itself, its opposite, and weaker ones.
std::vector<std::pair<Expr, bool>> implications(const Expr& condition);

// Does `part` occur in the expression?
bool contains(const Expr& expr, const Expr& part);
// Every subexpression of a kind, each once, outer ones first.
std::vector<Expr> find_all(const Expr& expr, Kind kind);

}  // namespace flambeau::symbolic
