#include "flambeau/shapes/learn.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "flambeau/shapes/shape_env.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/condition.h"
#include "flambeau/symbolic/forms/functions.h"
#include "flambeau/symbolic/forms/solve.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::Fact;
using symbolic::Kind;
using symbolic::Number;
using symbolic::NumberKind;
using symbolic::ValueRange;

namespace {

// Guards with more symbols than this are kept, but nothing is learned from them, as in PyTorch.
constexpr size_t kMostSymbols = 5;

bool is_whole_throughout(const Expr& expr) {
  return expr.facts().is(Fact::kInteger) &&
         std::ranges::all_of(expr.args(), [](const Expr& arg) { return is_whole_throughout(arg); });
}

bool is_division_by_more_than_one(const Expr& expr) {
  if ((expr.kind() == Kind::kFloorDiv || expr.kind() == Kind::kCleanDiv) && !expr.arg(1).is(1)) return true;
  return std::ranges::any_of(expr.args(), [](const Expr& arg) { return is_division_by_more_than_one(arg); });
}

// A symbol, with a number added or multiplied. With anything else as a size, assertions could not be stated.
bool is_simple(const Expr& expr) {
  if (expr.is_symbol()) return true;
  if ((expr.kind() != Kind::kAdd && expr.kind() != Kind::kMul) || expr.args().size() != 2) return false;
  return (expr.arg(0).is_integer() && is_simple(expr.arg(1))) ||
         (expr.arg(1).is_integer() && is_simple(expr.arg(0)));
}

// The integers of a range of rationals.
ValueRange whole(const ValueRange& range) {
  const auto round = [](Kind kind, const Number& number) {
    if (number.kind() == NumberKind::kInfinity) return Number::int_infinity();
    if (number.kind() == NumberKind::kNegativeInfinity)
      return Number::of_kind(NumberKind::kNegativeIntInfinity);
    return number.is_finite() ? symbolic::round_number(kind, number) : number;
  };
  return {round(Kind::kCeilToInt, range.lower()), round(Kind::kFloorToInt, range.upper())};
}

}  // namespace

void Learner::learn(const Expr& condition) {
  if (condition.kind() == Kind::kAnd) {
    for (const Expr& part : condition.args()) learn(part);
    return;
  }
  if (!condition.is_relation() || condition.kind() == Kind::kNe) return;
  const size_t count = free_symbols(condition).size();
  if (count == 0 || count > kMostSymbols) return;
  refine_ranges(condition);
  if (condition.kind() == Kind::kEq) learn_equality(condition);
}

void Learner::refine_ranges(const Expr& relation) {
  const Expr expr = env_.simplify(relation);
  for (const Expr& symbol : free_symbols(expr)) {
    const std::optional<symbolic::Solution> solution = solve_for(expr, symbol);
    if (!solution || !solution->right.facts().is(Fact::kInteger)) continue;
    const ValueRange old = env_.info(symbol).range;
    const ValueRange bound = env_.bounds(solution->right);
    Number lower = old.lower();
    Number upper = old.upper();
    const Kind kind = solution->kind;
    if (compare(lower, bound.lower()) <= 0 && (kind == Kind::kEq || kind == Kind::kGe || kind == Kind::kGt))
      lower = kind == Kind::kGt ? add(bound.lower(), Number(1)) : bound.lower();
    if (compare(upper, bound.upper()) >= 0 && (kind == Kind::kEq || kind == Kind::kLe || kind == Kind::kLt))
      upper = kind == Kind::kLt ? add(bound.upper(), Number(-1)) : bound.upper();
    if (old == ValueRange(lower, upper)) continue;
    narrow(symbol, {lower, upper});
    const ValueRange& now = env_.info(symbol).range;
    if (now.is_single()) set_replacement(symbol, Expr(now.lower()));
  }
}

void Learner::narrow(const Expr& symbol, ValueRange range) {
  SymbolInfo& info = env_.mutable_info(symbol);
  // A size-like number is never known to be 0 or 1: what is true of sizes in general would contradict it.
  if (info.is_size_like && compare(range.upper(), Number(2)) < 0) range = {range.lower(), Number(2)};
  const ValueRange old = info.range;
  info.range = old.intersect(range);
  if (!(info.range.lower() == old.lower())) info.lower_where = env_.where();
  if (!(info.range.upper() == old.upper())) info.upper_where = env_.where();
  if (!(info.range == old)) env_.forget_answers();
}

void Learner::learn_equality(const Expr& relation) {
  const Expr& left = relation.arg(0);
  const Expr& right = relation.arg(1);
  std::vector<Expr> remainders = find_all(relation, Kind::kMod);
  if (!remainders.empty()) {
    const std::optional<symbolic::Solution> solution = solve_for(relation, remainders[0], false);
    if (solution && solution->right.is(0) && env_.divisible_.insert(remainders[0]).second) {
      // What was learned of quotients now speaks of exact ones.
      std::vector<std::pair<Expr, bool>> again;
      for (const auto& [fact, value] : env_.axioms_)
        if (!find_all(fact, Kind::kFloorDiv).empty()) again.emplace_back(env_.simplify(fact), value);
      for (const auto& [fact, value] : again) env_.axioms_.insert_or_assign(fact, value);
      env_.forget_answers();
    }
    return;
  }
  if (is_division_by_more_than_one(left) || is_division_by_more_than_one(right)) return;
  const auto is_from_data = [&](const Expr& expr) {
    return expr.is_symbol() && !env_.info(expr).is_backed();
  };
  // A number from data may become an expression over inputs; never one over other data, which might not exist
  // yet where it is used.
  if (is_from_data(left) && !env_.has_unbacked(right)) {
    set_replacement(left, env_.replace(right));
    return;
  }
  if (is_from_data(right) && !env_.has_unbacked(left)) {
    set_replacement(right, env_.replace(left));
    return;
  }
  // The symbol with the largest hint goes; among equals the last by name.
  std::vector<Expr> symbols = free_symbols(relation);
  const auto last = std::ranges::max_element(symbols, {}, [&](const Expr& symbol) {
    const std::optional<int64_t> hint = env_.info(symbol).hint;
    return std::tuple(hint.value_or(std::numeric_limits<int64_t>::max()), symbol.name());
  });
  const std::optional<symbolic::Solution> solution = solve_for(relation, *last, false);
  if (!solution || !is_whole_throughout(solution->right)) return;
  const Expr target = env_.replace(solution->right);
  if (!env_.has_unbacked(target)) set_replacement(*last, target);
}

void Learner::set_replacement(const Expr& symbol, const Expr& target) {
  SymbolInfo& info = env_.mutable_info(symbol);
  if (info.replacement && *info.replacement == target) return;
  if (contains(target, symbol)) return;
  if (env_.prefers_assertions() && !is_simple(target)) return;
  const ValueRange before = info.range;
  ValueRange bound = env_.bounds(target);
  if (!overlaps(bound, before)) return;
  narrow(symbol, bound);
  const auto fits = [&] { return before.contains(bound); };
  if (!fits()) {
    const std::vector<Expr> symbols = free_symbols(target);
    if (symbols.size() == 1) {
      const std::optional<symbolic::Solution> inverse =
          solve_for(symbolic::eq(symbol, target), symbols[0], false);
      if (inverse) {
        narrow(symbols[0], whole(env_.bounds(inverse->right)));
        bound = env_.bounds(target);
      }
    }
  }
  if (target.is_symbol()) {
    SymbolInfo& other = env_.mutable_info(target);
    if (info.is_size_like || other.is_size_like) info.is_size_like = other.is_size_like = true;
  }
  if (!fits()) return;
  // A size from data is not replaced by what may be 0 or 1.
  if (info.is_size_like) {
    const ValueRange sizes = {Number(2), Number::int_infinity()};
    const ValueRange as_size = symbolic::bounds(target, [&](std::string_view name) {
      const SymbolInfo* found = env_.find(name);
      return std::optional(found->is_size_like ? sizes : found->range);
    });
    if (!sizes.contains(as_size)) return;
  }
  info.replacement = target;
  env_.has_replacements_ = true;
  if (info.replacement_where.empty()) info.replacement_where = env_.where();
  env_.forget_answers();
}

}  // namespace flambeau::trace
