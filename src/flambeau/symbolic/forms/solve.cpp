#include "flambeau/symbolic/forms/solve.h"

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/condition.h"
#include "flambeau/symbolic/forms/relation.h"

namespace flambeau::symbolic {
namespace {

bool is_inequality(const Expr& expr) {
  return expr.is_relation() && expr.kind() != Kind::kEq && expr.kind() != Kind::kNe;
}

Expr move_terms(const Expr& relation, const Expr& part) {
  std::vector<Expr> others;
  if (relation.arg(0).kind() == Kind::kAdd)
    for (const Expr& term : relation.arg(0).args())
      if (!contains(term, part)) others.push_back(term);
  if (others.empty()) return relation;
  const Expr moved = add(std::move(others));
  return build_relation(relation.kind(), subtract(relation.arg(0), moved), subtract(relation.arg(1), moved));
}

Expr move_factors(const Expr& relation, const Expr& part) {
  if (relation.arg(0).kind() != Kind::kMul) return relation;
  std::vector<Expr> others;
  for (const Expr& factor : relation.arg(0).args())
    if (!contains(factor, part)) others.push_back(factor);
  const Expr other = mul(std::move(others));
  const Fuzzy negative = other.facts().get(Fact::kNegative);
  // The sign says whether the relation turns around.
  if (is_inequality(relation) ? !negative.has_value() : relation.arg(1).facts().is(Fact::kZero))
    return relation;
  const bool turns = is_inequality(relation) && *negative;
  return build_relation(turns ? mirrored(relation.kind()) : relation.kind(), divide(relation.arg(0), other),
                        divide(relation.arg(1), other));
}

// a // b < c is a < b*c, for b > 0 and an integer c. Equalities become two relations, of which one may be
// known: a // 4 == 0 is a < 4.
Expr open_division(const Expr& relation) {
  const Expr& left = relation.arg(0);
  if (left.kind() != Kind::kFloorDiv && left.kind() != Kind::kCleanDiv) return relation;
  if (!left.arg(1).facts().is(Fact::kPositive) || !relation.arg(1).facts().is(Fact::kInteger))
    return relation;
  const Expr& right = relation.arg(1);
  if (!is_inequality(relation)) {
    const Expr least = mul(right, left.arg(1));
    const Expr beyond = mul(add(right, Expr(1)), left.arg(1));
    if (relation.kind() == Kind::kEq) return and_({ge(left.arg(0), least), lt(left.arg(0), beyond)});
    return or_({lt(left.arg(0), least), ge(left.arg(0), beyond)});
  }
  const bool is_lower = relation.kind() == Kind::kGt || relation.kind() == Kind::kGe;
  const bool next = relation.kind() == Kind::kGt || relation.kind() == Kind::kLe;
  const Expr bound = mul(next ? add(right, Expr(1)) : right, left.arg(1));
  return is_lower ? ge(left.arg(0), bound) : lt(left.arg(0), bound);
}

constexpr int kMostSteps = 5;

}  // namespace

std::optional<Solution> solve_for(const Expr& relation, const Expr& part, bool opens_division) {
  if (!relation.is_relation()) return std::nullopt;
  const bool on_left = contains(relation.arg(0), part);
  if (on_left == contains(relation.arg(1), part)) return std::nullopt;
  Expr current = on_left ? relation : reversed(relation);
  for (int step = 0; step < kMostSteps; ++step) {
    Expr next = move_terms(current, part);
    if (next.is_relation()) next = move_factors(next, part);
    if (next.is_relation() && opens_division) next = open_division(next);
    if (!next.is_relation()) return std::nullopt;
    if (next == current) break;
    current = next;
  }
  if (!(current.arg(0) == part)) return std::nullopt;
  return Solution{current.kind(), current.arg(1)};
}

}  // namespace flambeau::symbolic
