#include "flambeau/symbolic/forms/condition.h"

#include <algorithm>
#include <numeric>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/relation.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {
namespace {

bool has_sum_inside(const Expr& expr) {
  for (const Expr& arg : expr.args())
    if (arg.kind() == Kind::kAdd || has_sum_inside(arg)) return true;
  return false;
}

// The product of factors, multiplied out.
Expr multiply_out(const std::vector<Expr>& factors, bool& changed) {
  std::vector<Expr> plain;
  std::vector<Expr> sums;
  for (const Expr& factor : factors) (factor.kind() == Kind::kAdd ? sums : plain).push_back(factor);
  changed = changed || sums.size() > 1 || (!sums.empty() && !plain.empty());
  std::vector<Expr> terms = {mul(plain)};
  for (const Expr& sum : sums) {
    std::vector<Expr> next;
    for (const Expr& term : terms)
      for (const Expr& other : sum.args()) next.push_back(mul(term, other));
    terms = std::move(next);
  }
  return add(std::move(terms));
}

constexpr int64_t kMostPower = 16;

Expr expand_node(const Expr& expr) {
  if (expr.kind() == Kind::kPow) {
    const Expr& base = expr.arg(0);
    const Expr& exponent = expr.arg(1);
    if (base.kind() != Kind::kAdd || !exponent.is_integer()) return expr;
    const int64_t power = std::abs(exponent.integer());
    if (power < 2 || power > kMostPower) return expr;
    bool changed = false;
    Expr product = base;
    for (int64_t i = 1; i < power; ++i) product = expand(multiply_out({product, base}, changed));
    return exponent.integer() > 0 ? product : divide(Expr(1), product);
  }
  if (expr.kind() != Kind::kMul) return expr;
  std::vector<Expr> above;
  std::vector<Expr> below;
  for (const Expr& arg : expr.args()) {
    if (arg.kind() == Kind::kPow && arg.arg(1).is(-1)) {
      below.push_back(arg.arg(0));
    } else {
      above.push_back(arg);
    }
  }
  bool changed = false;
  const Expr numerator = multiply_out(above, changed);
  const Expr denominator = multiply_out(below, changed);
  return changed ? divide(numerator, denominator) : expr;
}

bool is_negative(const Expr& term) {
  if (term.is_number()) return term.number().sign() < 0;
  return term.kind() == Kind::kMul && term.arg(0).is_number() && term.arg(0).number().sign() < 0;
}

int64_t whole_factor(const Expr& term) {
  const Expr& number = term.kind() == Kind::kMul ? term.arg(0) : term;
  return number.is_integer() ? std::abs(number.integer()) : 1;
}

Expr without_common_factor(const Expr& expr) {
  if (expr.is_integer()) return Expr(1);
  int64_t factor = 0;
  for (const Expr& term : terms_of(expr)) factor = std::gcd(factor, whole_factor(term));
  if (factor <= 1) return expr;
  std::vector<Expr> terms;
  for (const Expr& term : terms_of(expr)) terms.push_back(mul(Expr(Number::rational(1, factor)), term));
  return add(std::move(terms));
}

Expr canonical_relation(const Expr& relation) {
  const Expr& a = relation.arg(0);
  const Expr& b = relation.arg(1);
  if (a.is_boolean() || b.is_boolean()) return relation;
  Kind kind = relation.kind();
  const bool is_mirrored = kind == Kind::kGt || kind == Kind::kGe;
  if (is_mirrored) kind = kind == Kind::kGt ? Kind::kLt : Kind::kLe;
  const Expr difference = without_common_factor(is_mirrored ? subtract(a, b) : subtract(b, a));
  std::vector<Expr> left;
  std::vector<Expr> right;
  for (const Expr& term : terms_of(difference)) {
    if (is_negative(term)) {
      left.push_back(negate(term));
    } else {
      right.push_back(term);
    }
  }
  return make_node(kind, {add(std::move(left)), add(std::move(right))});
}

// Negations go down to the relations.
Expr push_negation(const Expr& condition, bool negate) {
  switch (condition.kind()) {
    case Kind::kNot:
      return push_negation(condition.arg(0), !negate);
    case Kind::kAnd:
    case Kind::kOr: {
      std::vector<Expr> args;
      for (const Expr& arg : condition.args()) args.push_back(push_negation(arg, negate));
      return (condition.kind() == Kind::kAnd) != negate ? and_(std::move(args)) : or_(std::move(args));
    }
    default:
      return negate ? not_(condition) : condition;
  }
}

constexpr size_t kMostClauses = 64;

// (a & b) | c becomes (a | c) & (b | c), unless that gets large.
Expr distribute(const Expr& condition) {
  if (condition.kind() == Kind::kAnd) {
    std::vector<Expr> args;
    for (const Expr& arg : condition.args()) args.push_back(distribute(arg));
    return and_(std::move(args));
  }
  if (condition.kind() != Kind::kOr) return condition;
  std::vector<std::vector<Expr>> clauses = {{}};
  for (const Expr& part : condition.args()) {
    const Expr arg = distribute(part);
    const std::vector<Expr> choices = arg.kind() == Kind::kAnd
                                          ? std::vector<Expr>(arg.args().begin(), arg.args().end())
                                          : std::vector<Expr>{arg};
    if (clauses.size() * choices.size() > kMostClauses) return condition;
    std::vector<std::vector<Expr>> next;
    for (const std::vector<Expr>& clause : clauses) {
      for (const Expr& choice : choices) {
        next.push_back(clause);
        next.back().push_back(choice);
      }
    }
    clauses = std::move(next);
  }
  std::vector<Expr> result;
  result.reserve(clauses.size());
  for (std::vector<Expr>& clause : clauses) result.push_back(or_(std::move(clause)));
  return and_(std::move(result));
}

Expr canonical_parts(const Expr& condition) {
  if (condition.is_relation()) return canonical_relation(condition);
  if (condition.kind() != Kind::kAnd && condition.kind() != Kind::kOr) return condition;
  std::vector<Expr> args;
  for (const Expr& arg : condition.args()) args.push_back(canonical_parts(arg));
  return condition.kind() == Kind::kAnd ? and_(std::move(args)) : or_(std::move(args));
}

void collect(const Expr& expr, Kind kind, std::vector<Expr>& found) {
  if (expr.kind() == kind && std::ranges::find(found, expr) == found.end()) found.push_back(expr);
  for (const Expr& arg : expr.args()) collect(arg, kind, found);
}

}  // namespace

Expr expand(const Expr& expr) {
  if (expr.args().empty() || !has_sum_inside(expr)) return expr;
  std::vector<Expr> args;
  bool changed = false;
  for (const Expr& arg : expr.args()) {
    args.push_back(expand(arg));
    changed = changed || !(args.back() == arg);
  }
  if (changed) return expand(rebuild(expr, std::move(args)));
  return expand_node(expr);
}

Expr canonical_condition(const Expr& condition) {
  if (condition.is_relation()) return canonical_relation(condition);
  if (condition.kind() != Kind::kAnd && condition.kind() != Kind::kOr && condition.kind() != Kind::kNot)
    return condition;
  return canonical_parts(distribute(push_negation(condition, false)));
}

std::vector<std::pair<Expr, bool>> implications(const Expr& condition) {
  std::vector<std::pair<Expr, bool>> result;
  const auto learn = [&](const Expr& fact) {
    const Expr form = canonical_condition(fact);
    if (form.kind() == Kind::kEq || form.kind() == Kind::kNe) {
      const Kind opposite = form.kind() == Kind::kEq ? Kind::kNe : Kind::kEq;
      result.emplace_back(form, true);
      result.emplace_back(make_node(form.kind(), {form.arg(1), form.arg(0)}), true);
      result.emplace_back(make_node(opposite, {form.arg(0), form.arg(1)}), false);
      result.emplace_back(make_node(opposite, {form.arg(1), form.arg(0)}), false);
      return;
    }
    result.emplace_back(form, true);
    const Expr denied = form.is_relation() ? negated(form) : not_(form);
    result.emplace_back(canonical_condition(denied), false);
  };
  learn(condition);
  const auto relation = [&](Kind kind, const Expr& a, const Expr& b) { learn(make_node(kind, {a, b})); };
  if (!condition.is_relation() || condition.arg(0).is_boolean() || condition.arg(1).is_boolean())
    return result;
  const Expr& a = condition.arg(0);
  const Expr& b = condition.arg(1);
  if (condition.kind() == Kind::kEq) {
    relation(Kind::kLe, a, b);
    relation(Kind::kGe, a, b);
  } else if (condition.kind() == Kind::kLt) {
    relation(Kind::kLe, a, b);
    relation(Kind::kNe, a, b);
    if (a.facts().is(Fact::kInteger) && b.facts().is(Fact::kInteger))
      relation(Kind::kLe, a, subtract(b, Expr(1)));
  } else if (condition.kind() == Kind::kLe) {
    relation(Kind::kLt, a, add(b, Expr(1)));
  }
  return result;
}

bool contains(const Expr& expr, const Expr& part) {
  if (expr == part) return true;
  return std::ranges::any_of(expr.args(), [&](const Expr& arg) { return contains(arg, part); });
}

std::vector<Expr> find_all(const Expr& expr, Kind kind) {
  std::vector<Expr> found;
  collect(expr, kind, found);
  return found;
}

}  // namespace flambeau::symbolic
