#include "flambeau/shapes/dim_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/condition.h"
#include "flambeau/symbolic/forms/functions.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::Kind;
using symbolic::Number;

namespace {

// Functions that are more than arithmetic and division with rest.
bool has_other_function(const Expr& expr) {
  switch (expr.kind()) {
    case Kind::kNumber:
    case Kind::kSymbol:
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kPow:
    case Kind::kEq:
    case Kind::kLt:
    case Kind::kLe:
    case Kind::kGt:
    case Kind::kGe:
    case Kind::kMod:
    case Kind::kPythonMod:
    case Kind::kFloorDiv:
      break;
    default:
      return true;
  }
  return std::ranges::any_of(expr.args(), has_other_function);
}

bool is_division(const Expr& expr) {
  return expr.kind() == Kind::kMod || expr.kind() == Kind::kPythonMod || expr.kind() == Kind::kFloorDiv;
}

}  // namespace

std::optional<Linear> linear_in(const Expr& expr, const Expr& symbol) {
  Linear result{.factor = Number(0), .offset = Number(0)};
  for (const Expr& term : symbolic::terms_of(expr)) {
    if (term.is_number()) {
      result.offset = add(result.offset, term.number());
      continue;
    }
    const symbolic::Coefficient split = symbolic::split_coefficient(term);
    if (!(split.rest == symbol)) return std::nullopt;
    result.factor = add(result.factor, split.number);
  }
  return result;
}

// a // b and a % b become arithmetic for sizes with the same remainder as the example's, which is kept as a
// condition of its own.
Expr DimSolver::without_division(const Expr& symbol, const Expr& expr) {
  if (expr.args().empty()) return expr;
  std::vector<Expr> args;
  for (const Expr& arg : expr.args()) args.push_back(without_division(symbol, arg));
  if (!is_division(expr)) return symbolic::rebuild(expr, std::move(args));
  const std::optional<int64_t> base = env_.hint(args[0]);
  const std::optional<int64_t> divisor = env_.hint(args[1]);
  if (!base || !divisor || *divisor == 0) return symbolic::rebuild(expr, std::move(args));
  const int64_t rest = symbolic::floor_modulo(*base, *divisor);
  const Expr remainder = symbolic::mod(symbolic::subtract(args[0], Expr(rest)), args[1]);
  if (!remainder.is(0)) {
    auto entry = std::ranges::find(remainders_, symbol, [](const auto& item) { return item.first; });
    if (entry == remainders_.end()) entry = remainders_.insert(remainders_.end(), {symbol, {}});
    if (std::ranges::find(entry->second, remainder) == entry->second.end())
      entry->second.push_back(remainder);
  }
  if (expr.kind() != Kind::kFloorDiv) return Expr(rest);
  return symbolic::divide(symbolic::subtract(args[0], Expr(rest)), args[1]);
}

bool DimSolver::add(const Expr& condition) {
  if (condition.kind() == Kind::kTrue) return true;
  const std::vector<Expr> symbols = free_symbols(condition);
  if (has_other_function(condition) || symbols.empty()) return false;
  if (symbols.size() > 1) {
    several_.push_back(condition);
    return false;
  }
  const Expr& symbol = symbols[0];
  if (std::ranges::find(order_, symbol) == order_.end()) order_.push_back(symbol);
  const auto count = [&] {
    const auto entry = std::ranges::find(remainders_, symbol, [](const auto& item) { return item.first; });
    return entry == remainders_.end() ? size_t{0} : entry->second.size();
  };
  const size_t before = count();
  const Expr plain = without_division(symbol, condition);
  if (plain.kind() == Kind::kTrue) return before == count();
  if (!plain.is_relation()) return false;
  if (plain.kind() == Kind::kEq && std::ranges::find(with_equality_, symbol) == with_equality_.end())
    with_equality_.push_back(symbol);
  single_[std::string(symbol.name())].push_back(plain);
  return false;
}

void DimSolver::add_equality(const std::string& source, const Expr& expr) {
  equalities_.emplace_back(source, expr);
}

void DimSolver::solve() {
  // A symbol with an equality has one value, the example's: it satisfies all guards.
  while (!with_equality_.empty()) {
    const Expr symbol = with_equality_.back();
    with_equality_.pop_back();
    single_.erase(std::string(symbol.name()));
    if (substitutions_.contains(symbol)) continue;
    const int64_t value = *env_.info(symbol).hint;
    values_.emplace_back(symbol, value);
    substitutions_.emplace(symbol, Expr(value));
    std::vector<Expr> conditions;
    conditions.swap(several_);
    for (const Expr& condition : conditions) add(substitute(condition, {{symbol, Expr(value)}}));
  }
  solve_multiples();
  for (const Expr& symbol : order_) {
    const auto found = single_.find(std::string(symbol.name()));
    if (found == single_.end()) continue;
    for (const Expr& relation : found->second) add_bound(symbol, relation);
  }
  for (auto& equality : equalities_) equality.second = substitute(equality.second, substitutions_);
}

// The integers k with a*symbol + b = divisor*k, for all remainders of a symbol together.
void DimSolver::solve_multiples() {
  for (const auto& [symbol, remainders] : remainders_) {
    if (substitutions_.contains(symbol)) continue;
    int64_t modulus = 1;
    int64_t rest = 0;
    bool is_solved = false;
    for (const Expr& remainder : remainders) {
      if (remainder.kind() != Kind::kMod || !remainder.arg(1).is_integer()) continue;
      const std::optional<Linear> base = linear_in(remainder.arg(0), symbol);
      const int64_t divisor = remainder.arg(1).integer();
      if (!base || !base->factor.is_integer() || !base->offset.is_integer() || divisor <= 0) continue;
      const int64_t factor = base->factor.numerator();
      if (factor <= 0 || divisor % factor != 0 || base->offset.numerator() % factor != 0) continue;
      // The example satisfies every one, so its own remainder is the common solution.
      modulus = std::lcm(modulus, divisor / factor);
      rest = symbolic::floor_modulo(*env_.info(symbol).hint, modulus);
      is_solved = true;
    }
    if (is_solved && modulus > 1) multiples_.push_back({symbol, modulus, rest == 0 ? 0 : modulus - rest});
  }
}

void DimSolver::add_bound(const Expr& symbol, const Expr& relation) {
  const std::optional<Linear> difference =
      linear_in(expand(symbolic::subtract(relation.arg(0), relation.arg(1))), symbol);
  if (!difference || !difference->factor.is_rational() || !difference->offset.is_rational() ||
      difference->factor.is_zero()) {
    search_bounds(symbol, relation);
    return;
  }
  // factor*symbol + offset < 0, so symbol is on one side of this:
  const Number edge = multiply(negate(difference->offset), power(difference->factor, -1));
  const bool is_upper =
      (relation.kind() == Kind::kLt || relation.kind() == Kind::kLe) == (difference->factor.sign() > 0);
  const bool is_strict = relation.kind() == Kind::kLt || relation.kind() == Kind::kGt;
  Range& range = ranges_[std::string(symbol.name())];
  if (is_upper) {
    int64_t most = symbolic::round_number(Kind::kFloorToInt, edge).numerator();
    if (is_strict && edge.is_integer()) --most;
    range.max = std::min(range.max.value_or(most), most);
  } else {
    int64_t least = symbolic::round_number(Kind::kCeilToInt, edge).numerator();
    if (is_strict && edge.is_integer()) ++least;
    range.min = std::max(range.min.value_or(least), least);
  }
}

// The sizes around the example's for which a condition of another form holds (a*a > 10), as if it changed
// once in each direction.
void DimSolver::search_bounds(const Expr& symbol, const Expr& relation) {
  constexpr int64_t kFar = int64_t{1} << 20;
  const int64_t hint = *env_.info(symbol).hint;
  const auto holds = [&](int64_t value) {
    try {
      return evaluate(relation, {{std::string(symbol.name()), Number(value)}}).truth();
    } catch (const Error&) {
      return false;
    }
  };
  if (!holds(hint)) return;
  const auto last = [&](int64_t good, int64_t bad) {
    while (std::abs(bad - good) > 1) {
      const int64_t middle = good + (bad - good) / 2;
      (holds(middle) ? good : bad) = middle;
    }
    return good;
  };
  Range& range = ranges_[std::string(symbol.name())];
  if (hint > 2 && !holds(2)) range.min = std::max(range.min.value_or(2), last(hint, 2));
  if (!holds(kFar)) {
    const int64_t most = last(hint, kFar);
    range.max = std::min(range.max.value_or(most), most);
  }
}

}  // namespace flambeau::trace
