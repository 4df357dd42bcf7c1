// Powers: numbers evaluated, exponents of products and powers distributed where that is exact.
#include <cmath>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/radical.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/require.h"

namespace flambeau::symbolic {
namespace {

Expr number_of(NumberKind kind) { return Expr(Number::of_kind(kind)); }
Expr keep(const Expr& base, const Expr& exponent) { return make_node(Kind::kPow, {base, exponent}); }

Expr infinite_base(const Number& base, const Expr& exponent, const Expr& original) {
  const Facts& facts = exponent.facts();
  if (facts.is(Fact::kExtendedNegative)) return Expr(0);
  const bool negative = base.sign() < 0;
  if (facts.is(Fact::kExtendedPositive)) {
    if (base.kind() == NumberKind::kComplexInfinity) return Expr(base);
    if (!negative) return Expr(base);
    if (facts.is(Fact::kEven)) return Expr(negate(base));
    if (facts.is(Fact::kOdd)) return Expr(base);
  }
  return keep(original, exponent);
}

Expr infinite_exponent(const Number& base, const Number& exponent, const Expr& base_expr) {
  if (exponent.sign() < 0) return pow(pow(base_expr, Expr(-1)), Expr(negate(exponent)));
  if (compare(base, Number(1)) > 0) return number_of(NumberKind::kInfinity);
  if (compare(base, Number(-1)) > 0 && compare(base, Number(1)) < 0) return Expr(0);
  if (base.is(1) || base.is(-1)) return number_of(NumberKind::kNaN);
  return number_of(NumberKind::kComplexInfinity);
}

Expr rational_power(const Number& base, const Number& exponent) {
  // exponent is a fraction
  if (base.sign() < 0) throw_complex("Pow");
  if (base.is(0)) return exponent.sign() > 0 ? Expr(0) : number_of(NumberKind::kComplexInfinity);
  if (exponent.sign() < 0)
    return rational_power(Number::rational(base.denominator(), base.numerator()), negate(exponent));
  if (base.is(1)) return Expr(1);
  if (base.is_integer()) return integer_root(base.numerator(), exponent);
  // (p/q)**e with a root in the numerator only: p**e * q**(n - e) / q**n
  const int64_t whole = exponent.numerator() / exponent.denominator() + 1;
  const Number rest = add(Number(whole), negate(exponent));
  return mul({pow(Expr(base.numerator()), Expr(exponent)), pow(Expr(base.denominator()), Expr(rest)),
              Expr(power(Number::rational(1, base.denominator()), whole))});
}

Expr number_power(const Number& base, const Number& exponent, const Expr& base_expr,
                  const Expr& exponent_expr) {
  if (base.is_infinite()) return infinite_base(base, exponent_expr, base_expr);
  if (exponent.is_infinite()) return infinite_exponent(base, exponent, base_expr);
  if (base.is_float() || exponent.is_float()) {
    if (base.is_zero() && exponent.sign() < 0) return number_of(NumberKind::kComplexInfinity);
    if (base.sign() < 0 && !exponent.is_integer()) throw_complex("Pow");
    return Expr(Number::real(std::pow(base.to_double(), exponent.to_double())));
  }
  if (exponent.is_integer()) {
    if (base.is(0)) return exponent.sign() > 0 ? Expr(0) : number_of(NumberKind::kComplexInfinity);
    return Expr(power(base, exponent.numerator()));
  }
  return rational_power(base, exponent);
}

// (a*b)**e for a fraction e: factors known to be nonnegative get the exponent of their own.
Expr product_power(const Expr& base, const Expr& exponent) {
  if (exponent.is_integer()) {
    std::vector<Expr> factors;
    for (const Expr& factor : base.args()) factors.push_back(pow(factor, exponent));
    return mul(std::move(factors));
  }
  if (!exponent.is_number()) return keep(base, exponent);
  std::vector<Expr> outside;
  std::vector<Expr> inside;
  for (const Expr& factor : base.args()) {
    if (factor.facts().is(Fact::kExtendedNonnegative)) {
      outside.push_back(pow(factor, exponent));
    } else if (factor.is_number() && factor.number().sign() < 0 && !factor.is(-1)) {
      outside.push_back(pow(negate(factor), exponent));
      inside.emplace_back(-1);
    } else {
      inside.push_back(factor);
    }
  }
  if (outside.empty()) return keep(base, exponent);
  if (!inside.empty()) {
    const Expr rest = raw_mul(std::move(inside));
    outside.push_back(rest.is_number() ? pow(rest, exponent) : keep(rest, exponent));
  }
  return mul(std::move(outside));
}

Expr nested_power(const Expr& base, const Expr& exponent) {
  const auto [inner_base, inner_exponent] = split_power(base);
  bool joins = exponent.facts().is(Fact::kInteger);
  Expr bottom = inner_base;
  if (!joins && inner_exponent.facts().is(Fact::kExtendedReal)) {
    if (inner_exponent.facts().is(Fact::kEven) && bottom.facts().is(Fact::kExtendedReal))
      bottom = abs(bottom);
    const bool is_small = inner_exponent.is_number() && compare(inner_exponent.number(), Number(1)) < 0 &&
                          compare(inner_exponent.number(), Number(-1)) > 0;
    joins = is_small || bottom.facts().is(Fact::kExtendedNonnegative);
  }
  if (!joins) return keep(base, exponent);
  return pow(bottom, mul(inner_exponent, exponent));
}

}  // namespace

Expr pow(const Expr& base, const Expr& exponent) {
  const Expr operands[] = {base, exponent};
  require_arithmetic(operands, "Pow");
  if (exponent.is(0)) return Expr(1);
  if (exponent.is(1)) return base;
  if (exponent.is_number() && exponent.number().kind() == NumberKind::kComplexInfinity)
    return number_of(NumberKind::kNaN);
  if ((base.is_number() && base.number().is_nan()) || (exponent.is_number() && exponent.number().is_nan()))
    return number_of(NumberKind::kNaN);
  if (base.is_number() && exponent.is_number())
    return number_power(base.number(), exponent.number(), base, exponent);
  if (base.is(1)) return Expr(1);
  if (base.is_number() && base.number().sign() < 0) {
    // (-2)**n is 2**n for an even n.
    if (exponent.facts().is(Fact::kEven)) return pow(negate(base), exponent);
    if (exponent.is_symbol() && exponent.facts().is(Fact::kOdd)) return negate(pow(negate(base), exponent));
  }
  if (base.is(0)) {
    if (exponent.facts().is(Fact::kExtendedPositive)) return Expr(0);
    if (exponent.facts().is(Fact::kExtendedNegative)) return number_of(NumberKind::kComplexInfinity);
    return keep(base, exponent);
  }
  if (base.is_number() && base.number().is_infinite()) return infinite_base(base.number(), exponent, base);
  switch (base.kind()) {
    case Kind::kMul:
      return product_power(base, exponent);
    case Kind::kPow:
      return nested_power(base, exponent);
    case Kind::kPiecewise: {
      std::vector<std::pair<Expr, Expr>> pieces;
      for (const Expr& pair : base.args()) pieces.emplace_back(pow(pair.arg(0), exponent), pair.arg(1));
      return piecewise(std::move(pieces));
    }
    case Kind::kAbs:
      if (base.arg(0).facts().is(Fact::kExtendedReal) && exponent.is_integer()) {
        if (exponent.integer() % 2 == 0) return pow(base.arg(0), exponent);
        if (!exponent.is(-1)) return mul(pow(base.arg(0), subtract(exponent, Expr(1))), base);
      }
      break;
    default:
      break;
  }
  return keep(base, exponent);
}

}  // namespace flambeau::symbolic
