// PyTorch's functions of integers: floor division, the two modulos, modular indexing, powers and shifts.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/divisor.h"
#include "flambeau/symbolic/forms/functions.h"
#include "flambeau/symbolic/forms/relation.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/require.h"

namespace flambeau::symbolic {
namespace {

Expr nan_expr() { return Expr(Number::of_kind(NumberKind::kNaN)); }
bool is_nan(const Expr& expr) { return expr.is_number() && expr.number().is_nan(); }
bool is_infinite(const Expr& expr) {
  return expr.is_number() && expr.number().is_infinite() &&
         expr.number().kind() != NumberKind::kComplexInfinity;
}
bool equals_value(const Expr& expr, int64_t value) {
  return expr.is_number() && expr.number().is_finite() && compare(expr.number(), Number(value)) == 0;
}

Expr infinite_quotient(const Number& base, const Number& divisor) {
  const double ratio = base.to_double() / divisor.to_double();
  if (std::isnan(ratio)) return nan_expr();
  if (std::isinf(ratio)) return ratio > 0 ? int_infinity() : negate(int_infinity());
  return Expr(static_cast<int64_t>(std::floor(ratio)));
}

bool has_fraction(const Expr& expr) {
  if (expr.is_number()) return expr.number().kind() == NumberKind::kRational;
  for (const Expr& arg : expr.args())
    if (has_fraction(arg)) return true;
  return false;
}

bool is_whole_quotient(const Expr& quotient) {
  if (!quotient.facts().is(Fact::kInteger)) return false;
  return quotient.kind() != Kind::kMul || !has_fraction(quotient);
}

Expr divide_floor(Kind kind, const Expr& base, const Expr& divisor) {
  const Expr operands[] = {base, divisor};
  require_arithmetic(operands, kind_info(kind).name);
  if (divisor.facts().is(Fact::kZero)) throw_division_by_zero(kind_info(kind).name);
  if (is_infinite(base) && is_infinite(divisor)) return nan_expr();
  if (is_nan(base) || is_nan(divisor)) return nan_expr();
  if (base.facts().is(Fact::kZero)) return Expr(0);
  if (base.facts().is(Fact::kInteger) && equals_value(divisor, 1)) return base;
  if (base.facts().is(Fact::kInteger) && equals_value(divisor, -1)) return negate(base);
  if (base == divisor) return Expr(1);
  if (base.is_number() && divisor.is_number() && (is_infinite(base) || is_infinite(divisor)))
    return infinite_quotient(base.number(), divisor.number());
  if (base.is_integer() && divisor.is_integer()) return Expr(floor_divide(base.integer(), divisor.integer()));
  if (base.kind() == Kind::kFloorDiv || base.kind() == Kind::kCleanDiv)
    return floor_div(base.arg(0), mul(base.arg(1), divisor));

  if (divisor.is_integer()) {
    // Terms that the divisor divides leave the division.
    const Expr inverse(Number::rational(1, divisor.integer()));
    std::vector<Expr> quotients;
    std::vector<Expr> rest;
    for (const Expr& term : terms_of(base)) {
      const Expr quotient = mul(term, inverse);
      if (is_whole_quotient(quotient)) {
        quotients.push_back(quotient);
      } else {
        rest.push_back(term);
      }
    }
    if (!quotients.empty()) {
      quotients.push_back(floor_div(add(std::move(rest)), divisor));
      return add(std::move(quotients));
    }
  }
  Expr common = simple_common_divisor(base, divisor);
  if (common.is(1) && divisor.kind() == Kind::kAdd) common = common_divisor(base, divisor);
  if (!common.is(1)) return floor_div(divide_terms(base, common), divide_terms(divisor, common));
  return make_node(kind, {base, divisor});
}

void require_natural(const Expr& value, std::string_view what) {
  if (value.is_number() && value.number().sign() < 0)
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is negative", what));
}

Expr modulo(Kind kind, const Expr& p, const Expr& q) {
  const Expr operands[] = {p, q};
  const std::string_view name = kind_info(kind).name;
  require_arithmetic(operands, name);
  if (q.facts().is(Fact::kZero)) throw_division_by_zero(name);
  if (p.is(0) || p == q || p == negate(q) || q.is(1)) return Expr(0);
  if (p.is_number() && q.is_number()) {
    if (kind == Kind::kMod) {
      require_natural(p, "the first operand of Mod");
      require_natural(q, "the modulus of Mod");
    }
    return Expr(python_modulo(p.number(), q.number()));
  }
  if (q.is(2) && p.facts().is(Fact::kEven)) return Expr(0);
  if (q.is(2) && p.facts().is(Fact::kOdd)) return Expr(1);
  const Expr ratio = divide(p, q);
  if (ratio.facts().is(Fact::kInteger)) return Expr(0);
  if (ratio.facts().is(Fact::kPositive) && is_less(p, q) == Fuzzy(true)) return p;
  return make_node(kind, {p, q});
}

}  // namespace

Expr floor_div(const Expr& base, const Expr& divisor) { return divide_floor(Kind::kFloorDiv, base, divisor); }
Expr clean_div(const Expr& base, const Expr& divisor) { return divide_floor(Kind::kCleanDiv, base, divisor); }

Expr ceil_div(const Expr& base, const Expr& divisor) {
  if (common_divisor(base, divisor) == divisor) return clean_div(base, divisor);
  return floor_div(add({base, divisor, Expr(-1)}), divisor);
}

Expr mod(const Expr& p, const Expr& q) { return modulo(Kind::kMod, p, q); }
Expr python_mod(const Expr& p, const Expr& q) { return modulo(Kind::kPythonMod, p, q); }

Expr modular_indexing(const Expr& base, const Expr& divisor, const Expr& modulus) {
  const Expr operands[] = {base, divisor, modulus};
  require_arithmetic(operands, "ModularIndexing");
  if (base.is(0) || modulus.is(1)) return Expr(0);
  if (base.is_integer() && divisor.is_integer() && modulus.is_integer()) {
    if (divisor.is(0) || modulus.is(0)) throw_division_by_zero("ModularIndexing");
    return Expr(floor_modulo(floor_divide(base.integer(), divisor.integer()), modulus.integer()));
  }
  if (!divisor.is(1)) {
    const Expr common = common_divisor(base, divisor);
    if (!common.is(1))
      return modular_indexing(divide_terms(base, common), divide_terms(divisor, common), modulus);
  }
  if (base.kind() == Kind::kAdd && base.args().size() <= 20) {
    // Terms that are multiples of the whole period fall away, unless a term is negative.
    const Expr period = mul(modulus, divisor);
    std::vector<Expr> rest;
    bool all_positive = true;
    for (const Expr& term : base.args()) {
      if (common_divisor(term, period) == period) continue;
      const Expr& leading = term.kind() == Kind::kMul ? term.arg(0) : term;
      if (leading.is_integer() && leading.integer() < 0) {
        all_positive = false;
        break;
      }
      rest.push_back(term);
    }
    if (all_positive && rest.size() != base.args().size())
      return modular_indexing(add(std::move(rest)), divisor, modulus);
  }
  if (base.kind() == Kind::kFloorDiv || base.kind() == Kind::kCleanDiv)
    return modular_indexing(base.arg(0), mul(base.arg(1), divisor), modulus);
  return make_node(Kind::kModularIndexing, {base, divisor, modulus});
}

Expr pow_by_natural(const Expr& base, const Expr& exponent) {
  const Expr operands[] = {base, exponent};
  require_arithmetic(operands, "PowByNatural");
  if (base.is_integer() && exponent.is_integer()) {
    require_natural(exponent, "the exponent of PowByNatural");
    return Expr(natural_power(base.integer(), exponent.integer()));
  }
  if (exponent.is_integer()) return pow(base, exponent);
  if (exponent.is_number() && exponent.number().is_infinite() && exponent.number().sign() > 0) {
    if (base.facts().is(Fact::kNonnegative)) return int_infinity();
    if (base.facts().is(Fact::kNegative)) return Expr(Number::of_kind(NumberKind::kComplexInfinity));
  }
  return make_node(Kind::kPowByNatural, {base, exponent});
}

Expr left_shift(const Expr& base, const Expr& shift) {
  require_natural(shift, "a shift count");
  return mul(base, pow_by_natural(Expr(2), shift));
}

Expr right_shift(const Expr& base, const Expr& shift) {
  require_natural(shift, "a shift count");
  return floor_div(base, pow_by_natural(Expr(2), shift));
}

}  // namespace flambeau::symbolic
