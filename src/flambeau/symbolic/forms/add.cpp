// Sums: flattened, like terms collected, terms in sympy's order with the number first.
#include <algorithm>
#include <unordered_map>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/order.h"
#include "flambeau/symbolic/require.h"

namespace flambeau::symbolic {
namespace {

// c*rest where rest has no number of its own.
Expr scaled(const Number& coefficient, const Expr& rest) {
  if (coefficient.is(1)) return rest;
  if (rest.kind() == Kind::kMul) {
    std::vector<Expr> args = {Expr(coefficient)};
    args.insert(args.end(), rest.args().begin(), rest.args().end());
    return raw_mul(std::move(args));
  }
  if (rest.kind() == Kind::kAdd) return raw_mul({Expr(coefficient), rest});
  return mul(Expr(coefficient), rest);
}

// An infinite sum swallows its real terms.
void absorb(std::vector<Expr>& terms, const Number& sum) {
  const Fact direction =
      sum.kind() == NumberKind::kInfinity ? Fact::kExtendedNonnegative : Fact::kExtendedNonpositive;
  if (sum.kind() == NumberKind::kInfinity || sum.kind() == NumberKind::kNegativeInfinity) {
    std::erase_if(
        terms, [&](const Expr& term) { return term.facts().is(direction) || term.facts().is(Fact::kReal); });
  } else if (sum.kind() == NumberKind::kComplexInfinity) {
    std::erase_if(terms, [](const Expr& term) {
      return term.facts().is(Fact::kFinite) && term.facts().is_known(Fact::kExtendedReal);
    });
  }
}

}  // namespace

Expr add(std::vector<Expr> terms) {
  require_arithmetic(terms, "Add");
  std::erase_if(terms, [](const Expr& term) { return term.is(0); });
  if (terms.empty()) return Expr(0);
  if (terms.size() == 1) return terms[0];

  Number sum(0);
  std::vector<std::pair<Expr, Number>> collected;
  std::unordered_map<Expr, size_t, ExprHash> index_of;
  // Terms of nested sums join the end of the list, as sympy does it: order decides only among equals.
  for (size_t i = 0; i < terms.size(); ++i) {
    const Expr term = terms[i];
    if (term.is_number()) {
      sum = add(sum, term.number());
      if (sum.is_nan()) return Expr(sum);
      continue;
    }
    if (term.kind() == Kind::kAdd) {
      terms.insert(terms.end(), term.args().begin(), term.args().end());
      continue;
    }
    Coefficient split = split_coefficient(term);
    const auto [entry, added] = index_of.try_emplace(split.rest, collected.size());
    if (added) {
      collected.emplace_back(split.rest, split.number);
    } else {
      Number& total = collected[entry->second].second;
      total = add(total, split.number);
      if (total.is_nan()) return Expr(total);
    }
  }
  std::vector<Expr> result;
  for (const auto& [rest, coefficient] : collected)
    if (!coefficient.is_zero()) result.push_back(scaled(coefficient, rest));
  absorb(result, sum);
  std::sort(result.begin(), result.end(),
            [](const Expr& a, const Expr& b) { return compare_structure(a, b) < 0; });
  if (!sum.is(0)) result.insert(result.begin(), Expr(sum));
  return raw_add(std::move(result));
}

Expr add(const Expr& a, const Expr& b) { return add(std::vector<Expr>{a, b}); }

Expr subtract(const Expr& a, const Expr& b) { return add(a, negate(b)); }

Expr negate(const Expr& a) { return mul(Expr(-1), a); }

}  // namespace flambeau::symbolic
