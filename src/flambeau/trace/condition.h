// Conditions in the one form in which equal ones are equal, and what follows from one.
#pragma once

#include <utility>
#include <vector>

#include "flambeau/symbolic/expr.h"

namespace flambeau::trace {

// Products of sums and powers of sums become sums of products, everywhere within.
symbolic::Expr expand(const symbolic::Expr& expr);

// Relations become ==, !=, < and <= with positive terms only on either side and no common factor: 4 - 2*a > 0
// is a < 2. Ands and ors go into conjunctive form. Relations are not evaluated.
symbolic::Expr canonical_condition(const symbolic::Expr& condition);

// Conditions in canonical form that a true condition decides: itself, its opposite, and weaker ones.
std::vector<std::pair<symbolic::Expr, bool>> implications(const symbolic::Expr& condition);

// Does `part` occur in the expression?
bool contains(const symbolic::Expr& expr, const symbolic::Expr& part);
// Every subexpression of a kind, each once, outer ones first.
std::vector<symbolic::Expr> find_all(const symbolic::Expr& expr, symbolic::Kind kind);

}  // namespace flambeau::trace
