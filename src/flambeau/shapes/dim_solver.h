// Turns the guards of a trace into what each dimension may be: one value, a range, a multiple of a number, or
// a function of another dimension. From this come the fixes that an error suggests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/shapes/shape_env.h"
#include "flambeau/symbolic/expr.h"

namespace flambeau::trace {

class DimSolver {
 public:
  explicit DimSolver(const ShapeEnv& env) : env_(env) {}

  // True when the condition says nothing that was not said before.
  bool add(const symbolic::Expr& condition);
  // The size at `source` is this expression.
  void add_equality(const std::string& source, const symbolic::Expr& expr);
  void solve();

  // symbol = modulus*k - shift for some integer k
  struct Multiple {
    symbolic::Expr symbol;
    int64_t modulus = 1;
    int64_t shift = 0;
  };
  struct Range {
    std::optional<int64_t> min = {};
    std::optional<int64_t> max = {};
  };

  // Of solve(): symbols that have one value, multiples, ranges by symbol name, and what sizes equal.
  const std::vector<std::pair<symbolic::Expr, int64_t>>& values() const { return values_; }
  const std::vector<Multiple>& multiples() const { return multiples_; }
  const std::map<std::string, Range>& ranges() const { return ranges_; }
  const std::vector<std::pair<std::string, symbolic::Expr>>& equalities() const { return equalities_; }

 private:
  symbolic::Expr without_division(const symbolic::Expr& symbol, const symbolic::Expr& expr);
  void add_bound(const symbolic::Expr& symbol, const symbolic::Expr& relation);
  void search_bounds(const symbolic::Expr& symbol, const symbolic::Expr& relation);
  void solve_multiples();

  const ShapeEnv& env_;
  std::vector<symbolic::Expr> order_;                          // symbols of conditions, as they came
  std::map<std::string, std::vector<symbolic::Expr>> single_;  // conditions by their only symbol
  std::vector<symbolic::Expr> with_equality_;
  std::vector<symbolic::Expr> several_;  // conditions with several symbols
  // Mod(a, b) that are 0, by the only symbol.
  std::vector<std::pair<symbolic::Expr, std::vector<symbolic::Expr>>> remainders_;

  symbolic::Replacements substitutions_;
  std::vector<std::pair<symbolic::Expr, int64_t>> values_;
  std::vector<Multiple> multiples_;
  std::map<std::string, Range> ranges_;
  std::vector<std::pair<std::string, symbolic::Expr>> equalities_;
};

// expr = factor*symbol + offset, exact.
struct Linear {
  symbolic::Number factor;
  symbolic::Number offset;
};
std::optional<Linear> linear_in(const symbolic::Expr& expr, const symbolic::Expr& symbol);

}  // namespace flambeau::trace
