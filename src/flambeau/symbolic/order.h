// sympy's two orders of expressions: the one that arguments are kept in, and the one they are printed in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// Basic.compare: -1, 0, 1. Arguments of Add and Mul are kept in this order.
int compare_structure(const Expr& a, const Expr& b);

// By default_sort_key: -1, 0, 1. Factors, and the arguments of Max and Min, are printed in this order.
int compare_sort_key(const Expr& a, const Expr& b);

// As sympy's ordered(): by node count, then default_sort_key, then structure. Drops duplicates.
void sort_and_unique(std::vector<Expr>& args);

// Indices of the arguments of an Add in the order sympy prints them.
std::vector<uint32_t> order_of_terms(std::span<const Expr> args);
// Likewise for a Mul, whose leading number, if any, is left out.
std::vector<uint32_t> order_of_factors(std::span<const Expr> args);

}  // namespace flambeau::symbolic
