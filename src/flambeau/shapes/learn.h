// What follows for symbols from a condition that holds: an equality replaces a symbol, an inequality narrows
// ranges, a remainder of zero is a fact about a division.
#pragma once

#include "flambeau/symbolic/expr.h"
#include "flambeau/symbolic/ranges/value_range.h"

namespace flambeau::trace {

class ShapeEnv;

class Learner {
 public:
  explicit Learner(ShapeEnv& env) : env_(env) {}

  void learn(const symbolic::Expr& condition);
  // Intersects the range of a symbol.
  void narrow(const symbolic::Expr& symbol, symbolic::ValueRange range);

 private:
  void refine_ranges(const symbolic::Expr& relation);
  void learn_equality(const symbolic::Expr& relation);
  // The symbol equals the target from now on, unless that would lose what its range says.
  void set_replacement(const symbolic::Expr& symbol, const symbolic::Expr& target);

  ShapeEnv& env_;
};

}  // namespace flambeau::trace
