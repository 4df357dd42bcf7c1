#include "flambeau/trace/solve.h"

#include "flambeau/symbolic/algebra.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/relation.h"
#include "flambeau/trace/condition.h"

namespace flambeau::trace {
namespace {

using symbolic::Expr;
using symbolic::Fact;
using symbolic::Kind;

Expr relate(Kind kind, const Expr& a, const Expr& b) {
  switch (kind) {
    case Kind::kEq:
      return symbolic::eq(a, b);
    case Kind::kNe:
      return symbolic::ne(a, b);
    case Kind::kLt:
      return symbolic::lt(a, b);
    case Kind::kLe:
      return symbolic::le(a, b);
    case Kind::kGt:
      return symbolic::gt(a, b);
    default:
      return symbolic::ge(a, b);
  }
}

Kind mirrored(Kind kind) {
  switch (kind) {
    case Kind::kLt:
      return Kind::kGt;
    case Kind::kLe:
      return Kind::kGe;
    case Kind::kGt:
      return Kind::kLt;
    case Kind::kGe:
      return Kind::kLe;
    default:
      return kind;
  }
}

bool is_inequality(const Expr& expr) {
  return expr.is_relation() && expr.kind() != Kind::kEq && expr.kind() != Kind::kNe;
}

Expr move_terms(const Expr& relation, const Expr& part) {
  std::vector<Expr> others;
  if (relation.arg(0).kind() == Kind::kAdd)
    for (const Expr& term : relation.arg(0).args())
      if (!contains(term, part)) others.push_back(term);
  if (others.empty()) return relation;
  const Expr moved = symbolic::add(std::move(others));
  return relate(relation.kind(), symbolic::subtract(relation.arg(0), moved),
                symbolic::subtract(relation.arg(1), moved));
}

Expr move_factors(const Expr& relation, const Expr& part) {
  if (relation.arg(0).kind() != Kind::kMul) return relation;
  std::vector<Expr> others;
  for (const Expr& factor : relation.arg(0).args())
    if (!contains(factor, part)) others.push_back(factor);
  const Expr other = symbolic::mul(std::move(others));
  const symbolic::Fuzzy negative = other.facts().get(Fact::kNegative);
  // The sign says whether the relation turns around.
  if (is_inequality(relation) ? !negative.has_value() : relation.arg(1).facts().is(Fact::kZero))
    return relation;
  const bool turns = is_inequality(relation) && *negative;
  return relate(turns ? mirrored(relation.kind()) : relation.kind(), symbolic::divide(relation.arg(0), other),
                symbolic::divide(relation.arg(1), other));
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
    const Expr least = symbolic::mul(right, left.arg(1));
    const Expr beyond = symbolic::mul(symbolic::add(right, Expr(1)), left.arg(1));
    if (relation.kind() == Kind::kEq)
      return symbolic::and_({symbolic::ge(left.arg(0), least), symbolic::lt(left.arg(0), beyond)});
    return symbolic::or_({symbolic::lt(left.arg(0), least), symbolic::ge(left.arg(0), beyond)});
  }
  const bool is_lower = relation.kind() == Kind::kGt || relation.kind() == Kind::kGe;
  const bool next = relation.kind() == Kind::kGt || relation.kind() == Kind::kLe;
  const Expr bound = symbolic::mul(next ? symbolic::add(right, Expr(1)) : right, left.arg(1));
  return is_lower ? symbolic::ge(left.arg(0), bound) : symbolic::lt(left.arg(0), bound);
}

constexpr int kMostSteps = 5;

}  // namespace

std::optional<Solution> solve_for(const Expr& relation, const Expr& part, bool opens_division) {
  if (!relation.is_relation()) return std::nullopt;
  const bool on_left = contains(relation.arg(0), part);
  if (on_left == contains(relation.arg(1), part)) return std::nullopt;
  Expr current = on_left ? relation : symbolic::reversed(relation);
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

}  // namespace flambeau::trace
