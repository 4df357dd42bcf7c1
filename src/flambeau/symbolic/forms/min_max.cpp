// Max and Min with PyTorch's rules: flattened, numbers joined, nested opposites thinned out.
#include <algorithm>
#include <unordered_set>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/order.h"
#include "flambeau/symbolic/require.h"

namespace flambeau::symbolic {
namespace {

constexpr size_t kMaxWeight = 1'000'000;

Kind other_of(Kind kind) { return kind == Kind::kMax ? Kind::kMin : Kind::kMax; }
bool is_extreme(const Expr& expr) { return expr.kind() == Kind::kMax || expr.kind() == Kind::kMin; }
bool contains(std::span<const Expr> args, const Expr& value) {
  return std::find(args.begin(), args.end(), value) != args.end();
}

// No evaluation beyond flattening into order.
Expr raw_extreme(Kind kind, std::vector<Expr> args) {
  sort_and_unique(args);
  if (args.empty()) return kind == Kind::kMax ? negate(infinity()) : infinity();
  if (args.size() == 1) return args[0];
  return make_node(kind, std::move(args));
}

// a + b with two symbols; such arguments over distinct symbols need no comparisons.
bool is_symbol_pair(const Expr& expr) {
  return expr.kind() == Kind::kAdd && expr.args().size() == 2 && expr.arg(0).is_symbol() &&
         expr.arg(1).is_symbol();
}

bool are_unrelated_sums(const std::vector<Expr>& args) {
  std::unordered_set<Expr, ExprHash> seen;
  for (const Expr& arg : args) {
    if (!is_symbol_pair(arg)) return false;
    for (const Expr& term : arg.args())
      if (!seen.insert(term).second) return false;
  }
  return true;
}

// The most extreme number that a nested call of `kind` starts with.
void find_bound(const Expr& expr, Kind kind, std::optional<Number>& bound) {
  if (!is_extreme(expr)) return;
  if (expr.kind() == kind && expr.arg(0).is_number()) {
    const Number& number = expr.arg(0).number();
    if (!bound || (compare(number, *bound) > 0) == (kind == Kind::kMax)) bound = number;
  }
  for (const Expr& arg : expr.args()) find_bound(arg, kind, bound);
}

// `known` is an argument of the outer call of `kind`: inside nested calls it is redundant.
Expr thin_out(Kind kind, const Expr& nested, const Expr& known) {
  if (!is_extreme(nested)) return nested;
  std::vector<Expr> args;
  if (!contains(nested.args(), known)) {
    for (const Expr& arg : nested.args()) args.push_back(thin_out(kind, arg, known));
    return raw_extreme(nested.kind(), std::move(args));
  }
  if (nested.kind() != kind) return known;
  for (const Expr& arg : nested.args())
    if (!(arg == known)) args.push_back(thin_out(kind, arg, known));
  return raw_extreme(nested.kind(), std::move(args));
}

// Min(Max(x, y), Max(x, z)) is Max(x, Min(y, z)).
std::vector<Expr> factor_out(Kind kind, const std::vector<Expr>& args) {
  const Kind other = other_of(kind);
  std::vector<Expr> nested;
  std::vector<Expr> rest;
  for (const Expr& arg : args) (arg.kind() == other ? nested : rest).push_back(arg);
  if (nested.empty()) return args;
  std::vector<Expr> common(nested[0].args().begin(), nested[0].args().end());
  for (const Expr& call : nested)
    std::erase_if(common, [&](const Expr& arg) { return !contains(call.args(), arg); });
  if (common.empty()) return args;
  std::vector<Expr> differences;
  bool all_differ = true;
  for (const Expr& call : nested) {
    std::vector<Expr> difference;
    for (const Expr& arg : call.args())
      if (!contains(common, arg)) difference.push_back(arg);
    all_differ = all_differ && !difference.empty();
    if (!difference.empty()) differences.push_back(raw_extreme(other, std::move(difference)));
  }
  if (all_differ) common.push_back(raw_extreme(kind, std::move(differences)));
  rest.push_back(raw_extreme(other, std::move(common)));
  return rest;
}

std::vector<Expr> collapse(Kind kind, std::vector<Expr> args) {
  sort_and_unique(args);
  if (args.empty()) return args;
  if (args[0].is_number()) {
    std::optional<Number> bound;
    for (const Expr& arg : args) find_bound(arg, kind, bound);
    for (const Expr& arg : args) {
      if (!arg.is_number()) break;
      if (!bound || (compare(arg.number(), *bound) > 0) == (kind == Kind::kMax)) bound = arg.number();
    }
    if (bound) {
      // Min(2, Max(5, x)) is 2: the inner call never gets below 5.
      std::erase_if(args, [&](const Expr& arg) {
        if (arg.kind() != other_of(kind) || !arg.arg(0).is_number()) return false;
        const int order = compare(arg.arg(0).number(), *bound);
        return kind == Kind::kMin ? order > 0 : order < 0;
      });
    }
  }
  // Each argument against each nested call: only where that is few.
  const auto nested = static_cast<size_t>(std::count_if(args.begin(), args.end(), is_extreme));
  size_t weight = 0;
  for (const Expr& arg : args)
    if (is_extreme(arg)) weight += arg.node().size;
  if (nested == 0 || args.size() * weight > kMaxWeight) return args;
  for (size_t i = 0; i < args.size(); ++i)
    for (size_t j = i + 1; j < args.size(); ++j) args[j] = thin_out(kind, args[j], args[i]);
  return args.size() > 1 ? factor_out(kind, args) : args;
}

// Of c*t and d*t, the one that is always larger (or smaller), when t has a known sign.
std::optional<Expr> pick_multiple(Kind kind, const std::vector<Expr>& args) {
  if (args.size() != 2) return std::nullopt;
  const Coefficient a = split_coefficient(args[0]);
  const Coefficient b = split_coefficient(args[1]);
  if (!(a.rest == b.rest)) return std::nullopt;
  const int order = compare(a.number, b.number);
  if (order == 0) return args[0];
  bool a_is_smaller = order < 0;
  if (!a.rest.facts().is(Fact::kNonnegative)) {
    if (!a.rest.facts().is(Fact::kNonpositive)) return std::nullopt;
    a_is_smaller = order > 0;
  }
  return a_is_smaller == (kind == Kind::kMin) ? args[0] : args[1];
}

std::vector<Expr> join_numbers(Kind kind, const std::vector<Expr>& args) {
  std::optional<Number> number;
  std::vector<Expr> others;
  for (const Expr& arg : args) {
    if (!arg.is_number()) {
      others.push_back(arg);
    } else if (!number || (compare(arg.number(), *number) > 0) == (kind == Kind::kMax)) {
      number = arg.number();
    }
  }
  if (!number) {
    sort_and_unique(others);
    if (const std::optional<Expr> picked = pick_multiple(kind, others)) return {*picked};
    return others;
  }
  if (others.size() == 1) {
    const Facts& facts = others[0].facts();
    const bool is_above =
        (number->is_zero() && facts.is(Fact::kNonnegative)) || (number->is(1) && facts.is(Fact::kPositive));
    if (is_above) return kind == Kind::kMax ? others : std::vector<Expr>{Expr(*number)};
  }
  others.emplace_back(*number);
  return others;
}

Expr build(Kind kind, std::vector<Expr> args) {
  require_arithmetic(args, kind_info(kind).name);
  const NumberKind zero = kind == Kind::kMax ? NumberKind::kInfinity : NumberKind::kNegativeInfinity;
  const NumberKind identity = kind == Kind::kMax ? NumberKind::kNegativeInfinity : NumberKind::kInfinity;
  std::vector<Expr> flat;
  for (const Expr& arg : args) {
    if (arg.is_number() && arg.number().kind() == zero) return arg;
    if (arg.is_number() && arg.number().kind() == identity) continue;
    if (arg.kind() == kind) {
      flat.insert(flat.end(), arg.args().begin(), arg.args().end());
    } else {
      flat.push_back(arg);
    }
  }
  if (!(args.size() == 2 && are_unrelated_sums(flat)))
    flat = join_numbers(kind, collapse(kind, std::move(flat)));
  return raw_extreme(kind, std::move(flat));
}

}  // namespace

Expr max(std::vector<Expr> args) { return build(Kind::kMax, std::move(args)); }
Expr min(std::vector<Expr> args) { return build(Kind::kMin, std::move(args)); }

}  // namespace flambeau::symbolic
