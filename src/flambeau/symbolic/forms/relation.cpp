#include "flambeau/symbolic/forms/relation.h"

#include <cmath>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/order.h"
#include "flambeau/symbolic/require.h"

namespace flambeau::symbolic {
namespace {

Fuzzy fuzzy_not(Fuzzy value) { return value ? Fuzzy(!*value) : std::nullopt; }

Expr decide(Kind kind, Fuzzy value, const Expr& a, const Expr& b) {
  return value ? boolean(*value) : make_node(kind, {a, b});
}

bool in_order(const Expr& a, const Expr& b) {
  if (a.node().weight != b.node().weight) return a.node().weight < b.node().weight;
  const int order = compare_sort_key(a, b);
  return (order != 0 ? order : compare_structure(a, b)) <= 0;
}

// -a < -b for a > b
Expr reversed_sign(const Expr& relation) {
  const Expr& a = relation.arg(0);
  const Expr& b = relation.arg(1);
  if (a.is_boolean() || b.is_boolean()) return relation;
  return make_node(mirrored(relation.kind()), {negate(a), negate(b)});
}

}  // namespace

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

Expr build_relation(Kind kind, const Expr& a, const Expr& b) {
  switch (kind) {
    case Kind::kEq:
      return eq(a, b);
    case Kind::kNe:
      return ne(a, b);
    case Kind::kLt:
      return lt(a, b);
    case Kind::kLe:
      return le(a, b);
    case Kind::kGt:
      return gt(a, b);
    default:
      return ge(a, b);
  }
}

Fuzzy is_greater_or_equal(const Expr& a, const Expr& b) {
  if (a.is_number() && b.is_number()) {
    if (a.number().is_nan() || b.number().is_nan()) return std::nullopt;
    return compare(a.number(), b.number()) >= 0;
  }
  const auto is_extreme = [](const Expr& expr, int sign) {
    return expr.is_number() && expr.number().is_infinite() && expr.number().sign() == sign;
  };
  if (!a.facts().is(Fact::kExtendedReal) || !b.facts().is(Fact::kExtendedReal)) return std::nullopt;
  if (is_extreme(a, 1) || is_extreme(b, -1)) return true;
  const Expr difference = subtract(a, b);
  return difference.facts().get(Fact::kExtendedNonnegative);
}

Fuzzy is_less(const Expr& a, const Expr& b) { return fuzzy_not(is_greater_or_equal(a, b)); }

Fuzzy is_equal(const Expr& a, const Expr& b) {
  if (a == b) return true;
  const bool a_is_boolean = a.is_boolean();
  const bool b_is_boolean = b.is_boolean();
  if ((a.kind() == Kind::kTrue || a.kind() == Kind::kFalse) &&
      (b.kind() == Kind::kTrue || b.kind() == Kind::kFalse))
    return false;
  if (!a.is_symbol() && !b.is_symbol() && a_is_boolean != b_is_boolean) return false;
  if (a_is_boolean || b_is_boolean) return std::nullopt;
  if (a.is_number() && b.is_number()) return compare(a.number(), b.number()) == 0 && !a.number().is_nan();
  const auto infinite = [](const Expr& expr) { return expr.facts().get(Fact::kInfinite); };
  if (infinite(a) == Fuzzy(true) || infinite(b) == Fuzzy(true)) {
    if (infinite(a) && infinite(b) && infinite(a) != infinite(b)) return false;
    return std::nullopt;
  }
  const Expr difference = subtract(a, b);
  if (const Fuzzy zero = difference.facts().get(Fact::kZero)) return zero;
  if (difference.is_constant())
    if (const std::optional<double> value = approximate(difference)) return std::fabs(*value) < 1e-12;
  const Coefficient split = split_constant(difference);
  if (split.number.is_float() && std::floor(split.number.to_double()) == split.number.to_double() &&
      split.rest.facts().is_not(Fact::kInteger))
    return false;
  return std::nullopt;
}

Expr eq(const Expr& a, const Expr& b) { return decide(Kind::kEq, is_equal(a, b), a, b); }
Expr ne(const Expr& a, const Expr& b) { return decide(Kind::kNe, fuzzy_not(is_equal(a, b)), a, b); }

Expr lt(const Expr& a, const Expr& b) {
  require_arithmetic(std::vector<Expr>{a, b}, "StrictLessThan");
  return decide(Kind::kLt, is_less(a, b), a, b);
}
Expr ge(const Expr& a, const Expr& b) {
  require_arithmetic(std::vector<Expr>{a, b}, "GreaterThan");
  return decide(Kind::kGe, is_greater_or_equal(a, b), a, b);
}
Expr gt(const Expr& a, const Expr& b) {
  require_arithmetic(std::vector<Expr>{a, b}, "StrictGreaterThan");
  return decide(Kind::kGt, is_less(b, a), a, b);
}
Expr le(const Expr& a, const Expr& b) {
  require_arithmetic(std::vector<Expr>{a, b}, "LessThan");
  return decide(Kind::kLe, is_greater_or_equal(b, a), a, b);
}

Expr reversed(const Expr& relation) {
  return make_node(mirrored(relation.kind()), {relation.arg(1), relation.arg(0)});
}

Expr negated(const Expr& relation) {
  static constexpr Kind kOpposite[] = {Kind::kNe, Kind::kEq, Kind::kGe, Kind::kGt, Kind::kLe, Kind::kLt};
  const auto index = static_cast<size_t>(relation.kind()) - static_cast<size_t>(Kind::kEq);
  return make_node(kOpposite[index], {relation.arg(0), relation.arg(1)});
}

Expr canonical(const Expr& relation) {
  Expr result = relation;
  const auto inner = [](const Expr& side) { return side.is_relation() ? canonical(side) : side; };
  const Expr left = inner(relation.arg(0));
  const Expr right = inner(relation.arg(1));
  if (!(left == relation.arg(0)) || !(right == relation.arg(1))) {
    result = build_relation(relation.kind(), left, right);
    if (!result.is_relation()) return result;
  }
  const auto is_constant_number = [](const Expr& side) { return side.is_constant() && !side.is_boolean(); };
  if (is_constant_number(result.arg(1))) {
    if (result.arg(0).is_number() && result.arg(1).is_number() &&
        compare(result.arg(0).number(), result.arg(1).number()) > 0)
      result = reversed(result);
  } else if (is_constant_number(result.arg(0)) || !in_order(left, right)) {
    result = reversed(result);
  }
  const auto is_atom = [](const Expr& side) {
    return side.kind() == Kind::kTrue || side.kind() == Kind::kFalse;
  };
  if (is_atom(result.arg(0)) || is_atom(result.arg(1))) return result;
  if (could_extract_minus_sign(result.arg(0))) return reversed_sign(result);
  if (!is_constant_number(result.arg(1)) && could_extract_minus_sign(result.arg(1))) {
    if (!in_order(result.arg(0), negate(result.arg(1)))) return reversed_sign(reversed(result));
  }
  return result;
}

Expr canonical_coefficient(const Expr& relation) {
  Expr result = canonical(relation);
  if (!result.is_relation() || result.arg(1).is_boolean()) return result;
  if (result.arg(0).is_boolean()) return reversed(result);
  Coefficient shifted = split_constant(result.arg(0));
  if (!shifted.number.is_rational()) shifted = {Number(0), result.arg(0)};
  Coefficient scaled = split_coefficient(shifted.rest);
  if (!scaled.number.is_rational()) scaled = {Number(1), shifted.rest};
  if (scaled.number.is_zero()) return result;
  const Expr right = mul(Expr(power(scaled.number, -1)), subtract(result.arg(1), Expr(shifted.number)));
  const Kind kind = scaled.number.sign() < 0 ? mirrored(result.kind()) : result.kind();
  return build_relation(kind, scaled.rest, right);
}

}  // namespace flambeau::symbolic
