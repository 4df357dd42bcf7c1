// Facts of sums, and the bound that lets s0 - 1 be nonnegative for a positive integer s0.
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/facts/deduce.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/approximate.h"

namespace flambeau::symbolic {
namespace {

using enum Fact;

Fuzzy parity_is_odd(std::span<const Expr> args) {
  bool odd = false;
  for (const Expr& arg : args) {
    if (arg.facts().is(kEven)) continue;
    if (!arg.facts().is(kOdd)) return std::nullopt;
    odd = !odd;
  }
  return odd;
}

Fuzzy infinity_of_sum(std::span<const Expr> args) {
  bool saw = false;
  for (const Expr& arg : args) {
    if (!arg.facts().is_known(kInfinite)) return std::nullopt;
    if (!arg.facts().is(kInfinite)) continue;
    if (saw) return std::nullopt;
    saw = true;
  }
  return saw;
}

// Is the sum of this sign, seen from the terms' signs alone? `same` and `weak_same` are the facts of the sign
// asked for, `weak_other` of the opposite one.
Fuzzy sign_from_terms(std::span<const Expr> args, Fact same, Fact weak_same, Fact weak_other) {
  bool strict = false;
  bool weak = false;
  bool other = false;
  bool unknown = false;
  bool any = false;
  Fuzzy infinite_sign;
  for (const Expr& arg : args) {
    const Facts& facts = arg.facts();
    if (facts.is(kZero)) continue;
    any = true;
    if (facts.is(kInfinite)) {
      const bool agrees = facts.is(same) || facts.is(weak_same);
      if (infinite_sign && *infinite_sign != agrees) return std::nullopt;
      infinite_sign = agrees;
    }
    if (facts.is(same)) {
      strict = true;
    } else if (facts.is(weak_same)) {
      weak = true;
    } else if (facts.is(weak_other)) {
      other = true;
    } else {
      if (!facts.is_known(kInfinite)) return std::nullopt;
      unknown = true;
    }
  }
  if (!any) return false;
  if (infinite_sign) return infinite_sign;
  if (unknown) return std::nullopt;
  if (!other && strict) return true;
  if (!strict && !weak) return false;
  return std::nullopt;
}

struct Univariate {
  Expr variable;
  std::vector<std::pair<int64_t, Number>> terms;  // exponent, coefficient
};

// The sum as a polynomial with rational coefficients in the only symbol it holds.
std::optional<Univariate> as_univariate(std::span<const Expr> args) {
  std::optional<Expr> variable;
  Univariate result;
  for (const Expr& arg : args) {
    const Coefficient split = split_coefficient(arg);
    if (!split.number.is_rational()) return std::nullopt;
    if (split.rest.is(1)) {
      result.terms.emplace_back(0, split.number);
      continue;
    }
    const Power power = split_power(split.rest);
    if (!power.base.is_symbol() || !power.exponent.is_integer() || power.exponent.integer() < 1)
      return std::nullopt;
    if (power.exponent.integer() > 64) return std::nullopt;
    if (variable && !(*variable == power.base)) return std::nullopt;
    variable = power.base;
    result.terms.emplace_back(power.exponent.integer(), split.number);
  }
  if (!variable) return std::nullopt;
  result.variable = *variable;
  return result;
}

// For a polynomial in one symbol of known sign: its value at the end nearest to zero, when it only grows (or
// only falls) away from there with that sign.
std::optional<NearestToZero> nearest_of_polynomial(const Univariate& polynomial) {
  const Facts& facts = polynomial.variable.facts();
  const std::optional<NearestToZero> start = nearest_to_zero(polynomial.variable);
  if (!start || !facts.is(kNonnegative)) return std::nullopt;
  Number value(0);
  int64_t degree = 0;
  for (const auto& [exponent, coefficient] : polynomial.terms) {
    value = add(value, multiply(coefficient, power(start->value, exponent)));
    degree = std::max(degree, exponent);
  }
  // The derivative's sign for all values from the start on: all of one sign, or a parabola past its vertex.
  int direction = 0;
  bool mixed = false;
  for (const auto& [exponent, coefficient] : polynomial.terms) {
    if (exponent == 0) continue;
    if (direction != 0 && coefficient.sign() != direction) mixed = true;
    if (direction == 0) direction = coefficient.sign();
  }
  if (mixed) {
    if (degree != 2) return std::nullopt;
    Number square(0);
    Number linear(0);
    for (const auto& [exponent, coefficient] : polynomial.terms) {
      if (exponent == 2) square = coefficient;
      if (exponent == 1) linear = coefficient;
    }
    const Number slope = add(multiply(multiply(Number(2), square), start->value), linear);
    if (slope.sign() != square.sign()) return std::nullopt;
    direction = square.sign();
  } else if (start->value.is(0) && !start->exclusive && degree > 1) {
    // The derivative vanishes at 0, and sympy wants it to be of strict sign.
    bool has_linear = false;
    for (const auto& [exponent, coefficient] : polynomial.terms) has_linear = has_linear || exponent == 1;
    if (!has_linear) return std::nullopt;
  }
  if (value.sign() * direction < 0) return std::nullopt;
  return NearestToZero{value, start->exclusive};
}

std::optional<NearestToZero> nearest_of_linear(const Expr& sum) {
  const Coefficient split = split_constant(sum);
  if (split.number.is(0)) return std::nullopt;
  if (!split.rest.facts().is(kNonnegative) && !split.rest.facts().is(kNonpositive)) return std::nullopt;
  Number value(0);
  bool exclusive = false;
  for (const Expr& term : terms_of(split.rest)) {
    const Coefficient scaled = split_coefficient(term);
    Number product = scaled.number;
    for (const Expr& factor : factors_of(scaled.rest)) {
      if (!factor.is_symbol()) return std::nullopt;
      const std::optional<NearestToZero> nearest = nearest_to_zero(factor);
      if (!nearest) return std::nullopt;
      product = multiply(product, nearest->value);
      exclusive = exclusive || nearest->exclusive;
    }
    value = add(value, product);
  }
  const Number total = add(value, split.number);
  if (value.sign() >= 0 && split.rest.facts().is(kNonnegative) && total.sign() > 0)
    return NearestToZero{total, exclusive};
  if (value.sign() <= 0 && split.rest.facts().is(kNonpositive) && total.sign() < 0)
    return NearestToZero{total, exclusive};
  return std::nullopt;
}

}  // namespace

std::optional<NearestToZero> nearest_to_zero(const Expr& expr) {
  const Facts& facts = expr.facts();
  if (!facts.is(kExtendedReal)) return std::nullopt;
  if (expr.kind() == Kind::kAdd) {
    if (free_symbols(expr).size() == 1) {
      const std::optional<Univariate> polynomial = as_univariate(expr.args());
      if (!polynomial) return std::nullopt;
      return nearest_of_polynomial(*polynomial);
    }
    return nearest_of_linear(expr);
  }
  if (!split_fraction(expr).denominator.is_constant()) return std::nullopt;
  if (facts.is(kPrime)) return NearestToZero{Number(facts.is(kOdd) ? 3 : 2)};
  if (facts.is(kComposite)) return NearestToZero{Number(facts.is(kOdd) ? 9 : 4)};
  if (facts.is(kPositive)) {
    if (facts.is(kEven)) return NearestToZero{Number(facts.is_not(kPrime) ? 4 : 2)};
    if (facts.is(kInteger)) return NearestToZero{Number(1)};
    return NearestToZero{Number(0), true};
  }
  if (facts.is(kExtendedNegative)) {
    if (facts.is(kEven)) return NearestToZero{Number(-2)};
    if (facts.is(kInteger)) return NearestToZero{Number(-1)};
    return NearestToZero{Number(0), true};
  }
  if (facts.is(kZero) || facts.is(kExtendedNonpositive) || facts.is(kExtendedNonnegative))
    return NearestToZero{Number(0)};
  return std::nullopt;
}

Facts facts_of_sum(const Node& node) {
  Facts facts;
  const std::span<const Expr> args = node.args;
  for (const Fact fact :
       {kReal, kExtendedReal, kComplex, kAntihermitian, kFinite, kHermitian, kInteger, kRational, kAlgebraic})
    facts.learn(fact, group_fact(args, fact));
  facts.learn(kInfinite, infinity_of_sum(args));
  if (facts.is(kInteger)) {
    const Fuzzy odd = parity_is_odd(args);
    facts.learn(kOdd, odd);
  }
  if (node.constant) {
    // Numbers and roots of numbers: the value decides.
    double value = 0;
    for (const Expr& arg : args) {
      const std::optional<double> part = approximate(arg);
      if (!part) return facts;
      value += *part;
    }
    if (value > 1e-9) facts.learn(kPositive, true);
    if (value < -1e-9) facts.learn(kNegative, true);
    return facts;
  }
  facts.learn(kExtendedPositive,
              sign_from_terms(args, kExtendedPositive, kExtendedNonnegative, kExtendedNonpositive));
  facts.learn(kExtendedNegative,
              sign_from_terms(args, kExtendedNegative, kExtendedNonpositive, kExtendedNonnegative));
  if (!args[0].is_number() || !args[0].number().is_finite()) return facts;

  // constant + rest, where the rest is bounded by the value it has nearest to zero
  const Number& constant = args[0].number();
  const Expr rest = args.size() == 2 ? args[1] : raw_add({args.begin() + 1, args.end()});
  if (const std::optional<NearestToZero> nearest = nearest_to_zero(rest)) {
    const int sign = add(nearest->value, constant).sign();
    const bool is_up = rest.facts().is(kExtendedNonnegative);
    const bool is_down = rest.facts().is(kExtendedNonpositive);
    if (is_up && (sign > 0 || (sign == 0 && nearest->exclusive))) facts.learn(kExtendedPositive, true);
    if (is_up && sign >= 0) facts.learn(kExtendedNonnegative, true);
    if (is_down && (sign < 0 || (sign == 0 && nearest->exclusive))) facts.learn(kExtendedNegative, true);
    if (is_down && sign <= 0) facts.learn(kExtendedNonpositive, true);
    if (const std::optional<Univariate> polynomial = as_univariate(args)) {
      const std::optional<NearestToZero> whole = nearest_of_polynomial(*polynomial);
      if (whole && whole->value.sign() > 0) facts.learn(kExtendedPositive, true);
      if (whole && whole->value.sign() < 0) facts.learn(kExtendedNegative, true);
    }
  }
  return facts;
}

}  // namespace flambeau::symbolic
