// How facts follow from the arguments' facts, kind by kind; deduce_facts() in deduce.cpp is the way in.
#pragma once

#include <span>

#include "flambeau/symbolic/expr.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {

Facts facts_of_number(const Number& number);
Facts facts_of_sum(const Node& node);
Facts facts_of_product(const Node& node);
Facts facts_of_power(const Node& node);

// True when `fact` holds for all arguments; false when exactly one is known not to have it and the rest do (a
// sum of integers and one non-integer is no integer); otherwise unknown.
Fuzzy group_fact(std::span<const Expr> args, Fact fact);

// The value nearest to zero that an expression of known sign can have, as far as it is easily seen: 1 for a
// positive integer, 0 for a nonnegative one. Nothing when the sign is unknown.
struct NearestToZero {
  Number value;
  bool exclusive = false;  // the value itself is not reached (a positive real: > 0)
};
std::optional<NearestToZero> nearest_to_zero(const Expr& expr);

}  // namespace flambeau::symbolic
