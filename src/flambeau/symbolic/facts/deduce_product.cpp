// Facts of products and powers.
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/facts/deduce.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/approximate.h"

namespace flambeau::symbolic {
namespace {

using enum Fact;

struct ZeroInfinite {
  Fuzzy zero;
  Fuzzy infinite;
};

// A product is zero when a factor is and none can be infinite, and the other way round.
ZeroInfinite zero_and_infinite(std::span<const Expr> args) {
  enum class Seen : uint8_t { kNever, kPerhaps, kSurely };
  Seen zero = Seen::kNever;
  Seen infinite = Seen::kNever;
  const ZeroInfinite unknown;
  for (const Expr& arg : args) {
    const Facts& facts = arg.facts();
    if (facts.is(kZero)) {
      if (infinite != Seen::kNever) return unknown;
      zero = Seen::kSurely;
    } else if (facts.is(kInfinite)) {
      if (zero != Seen::kNever) return unknown;
      infinite = Seen::kSurely;
    } else {
      if (zero == Seen::kNever && !facts.is_known(kZero)) {
        if (infinite != Seen::kNever) return unknown;
        zero = Seen::kPerhaps;
      }
      if (infinite == Seen::kNever && !facts.is_known(kInfinite)) {
        if (zero != Seen::kNever) return unknown;
        infinite = Seen::kPerhaps;
      }
    }
  }
  ZeroInfinite result;
  if (zero == Seen::kNever) result.zero = false;
  if (zero == Seen::kSurely && infinite == Seen::kNever) result.zero = true;
  if (infinite == Seen::kNever) result.infinite = false;
  if (infinite == Seen::kSurely && zero == Seen::kNever) result.infinite = true;
  return result;
}

// sign 1: is the product positive? -1: is it negative?
Fuzzy has_sign(std::span<const Expr> args, int sign) {
  bool saw_weak = false;
  bool saw_not = false;
  for (const Expr& arg : args) {
    const Facts& facts = arg.facts();
    if (facts.is(kExtendedPositive)) continue;
    if (facts.is(kExtendedNegative)) {
      sign = -sign;
    } else if (facts.is(kZero)) {
      for (const Expr& other : args)
        if (!other.facts().is(kFinite)) return std::nullopt;
      return false;
    } else if (facts.is(kExtendedNonpositive)) {
      sign = -sign;
      saw_weak = true;
    } else if (facts.is(kExtendedNonnegative)) {
      saw_weak = true;
    } else if (facts.is_not(kPositive)) {
      sign = -sign;
      if (saw_not) return std::nullopt;
      saw_not = true;
    } else if (facts.is_not(kNegative)) {
      if (saw_not) return std::nullopt;
      saw_not = true;
    } else {
      return std::nullopt;
    }
  }
  if (sign == 1 && !saw_weak && !saw_not) return true;
  if (sign < 0) return false;
  return std::nullopt;
}

int64_t trailing_zeros(int64_t value) {
  return value == 0 ? 0 : __builtin_ctzll(static_cast<uint64_t>(value));
}

// Adds up the exponents of the even ones: a lower bound of how often 2 divides the product.
std::optional<int64_t> twos(const std::vector<Expr>& factors) {
  int64_t count = 0;
  for (const Expr& factor : factors) {
    if (!factor.facts().is(kEven)) continue;
    const Expr exponent = split_power(factor).exponent;
    if (!exponent.is_integer()) return std::nullopt;
    count += exponent.integer();
  }
  return count;
}

bool all_have(const std::vector<Expr>& args, Fact fact) {
  for (const Expr& arg : args)
    if (!arg.facts().is(fact)) return false;
  return true;
}

bool any_has(const std::vector<Expr>& args, Fact fact) {
  for (const Expr& arg : args)
    if (arg.facts().is(fact)) return true;
  return false;
}

Fuzzy is_integer_product(std::span<const Expr> args, Fuzzy is_rational) {
  if (is_rational == Fuzzy(false)) return false;
  std::vector<Expr> numerators;
  std::vector<Expr> denominators;
  bool unknown = false;
  for (const Expr& arg : args) {
    if (arg.facts().is(kInteger)) {
      if (!arg.is(1) && !arg.is(-1)) numerators.push_back(arg);
    } else if (arg.is_number() && arg.number().is_rational()) {
      if (arg.number().numerator() != 1 && arg.number().numerator() != -1)
        numerators.emplace_back(arg.number().numerator());
      denominators.emplace_back(arg.number().denominator());
    } else if (arg.kind() == Kind::kPow) {
      const Power power = split_power(arg);
      if (!power.base.facts().is(kInteger) || !power.exponent.facts().is(kInteger)) unknown = true;
      if (!power.exponent.facts().is(kNegative)) return std::nullopt;
      denominators.push_back(pow(arg, Expr(-1)));
    } else {
      return std::nullopt;
    }
  }
  if (denominators.empty() && !unknown) return true;
  if (numerators.empty() && !denominators.empty()) {
    bool all_above_one = true;
    for (const Expr& denominator : denominators)
      all_above_one = all_above_one && subtract(denominator, Expr(1)).facts().is(kPositive);
    if (all_above_one) return false;
  }
  if (unknown) return std::nullopt;
  if (all_have(numerators, kOdd) && any_has(denominators, kEven)) return false;
  if (any_has(numerators, kEven) && denominators.size() == 1 && denominators[0].is(2)) return true;
  if (all_have(numerators, kEven) && all_have(denominators, kOdd) &&
      subtract(mul(denominators), Expr(1)).facts().is(kPositive))
    return false;
  if (denominators.size() == 1 && denominators[0].is_integer() && denominators[0].facts().is(kEven)) {
    const std::optional<int64_t> count = twos(numerators);
    if (count && *count >= trailing_zeros(denominators[0].integer())) return true;
  }
  if (numerators.size() == 1 && numerators[0].is_integer() && numerators[0].facts().is(kEven)) {
    const std::optional<int64_t> count = twos(denominators);
    if (count && *count > trailing_zeros(numerators[0].integer())) return false;
  }
  return std::nullopt;
}

Fuzzy is_odd_product(std::span<const Expr> args) {
  bool known = true;
  for (const Expr& arg : args) {
    if (!arg.facts().is(kInteger)) return std::nullopt;  // a fraction inside: not worth the trouble
    if (arg.facts().is(kEven)) return false;
    if (!arg.facts().is(kOdd)) known = false;
  }
  if (known) return true;
  // n*(n + 1) is even.
  for (size_t i = 0; i + 1 < args.size(); ++i) {
    if (args[i].is_number() || args.size() > 8) continue;
    if (add(args[i], args[i + 1]).facts().is(kOdd)) return false;
  }
  return std::nullopt;
}

void learn_sign_of_constant(Facts& facts, std::span<const Expr> args) {
  double value = 1;
  for (const Expr& arg : args) {
    const std::optional<double> part = approximate(arg);
    if (!part) return;
    value *= *part;
  }
  if (value > 1e-9) facts.learn(kPositive, true);
  if (value < -1e-9) facts.learn(kNegative, true);
}

}  // namespace

Facts facts_of_product(const Node& node) {
  Facts facts;
  const std::span<const Expr> args = node.args;
  const ZeroInfinite special = zero_and_infinite(args);
  facts.learn(kZero, special.zero);
  facts.learn(kInfinite, special.infinite);
  bool none_is_zero = true;
  bool all_real = true;
  for (const Expr& arg : args) {
    none_is_zero = none_is_zero && arg.facts().is_not(kZero);
    all_real = all_real && arg.facts().is(kExtendedReal);
  }
  for (const Fact fact : {kRational, kAlgebraic}) {
    Fuzzy value = group_fact(args, fact);
    if (value == Fuzzy(false) && !none_is_zero) value = std::nullopt;
    facts.learn(fact, value);
  }
  if (group_fact(args, kComplex) == Fuzzy(true)) facts.learn(kComplex, true);
  // 0*oo is no number, so reality needs one of the two to be out of the question.
  if (all_real && (none_is_zero || facts.is(kComplex) || facts.is_not(kInfinite)))
    facts.learn(kExtendedReal, true);
  facts.learn(kInteger, is_integer_product(args, facts.get(kRational)));
  if (facts.is(kInteger)) facts.learn(kOdd, is_odd_product(args));
  facts.learn(kExtendedPositive, has_sign(args, 1));
  facts.learn(kExtendedNegative, has_sign(args, -1));
  if (node.constant) learn_sign_of_constant(facts, args);
  return facts;
}

Facts facts_of_power(const Node& node) {
  Facts facts;
  const Expr& base = node.args[0];
  const Expr& exponent = node.args[1];
  const Facts& b = base.facts();
  const Facts& e = exponent.facts();
  const bool exponent_is_natural = e.is(kInteger) && (e.is(kNonnegative) || e.is(kPositive));

  if (b.is(kRational) && b.is_not(kInteger) && e.is(kPositive)) facts.learn(kInteger, false);
  if (b.is(kInteger) && e.is(kInteger) && (base.is(-1) || exponent_is_natural)) facts.learn(kInteger, true);
  const Expr above = e.is(kNegative) ? subtract(base, Expr(1)) : Expr(0);
  if (e.is(kNegative)) {
    const Expr below = add(base, Expr(1));
    if (b.is(kInteger) && (e.is(kFinite) || e.is(kInteger)) && above.facts().is_not(kZero) &&
        below.facts().is_not(kZero))
      facts.learn(kInteger, false);
    if (b.is(kPositive) && above.facts().is(kPositive)) facts.learn(kInteger, false);
    if (b.is(kNegative) && below.facts().is(kNegative)) facts.learn(kInteger, false);
  }
  if (e.is(kInteger) && e.is(kPositive)) {
    facts.learn(kEven, b.get(kEven));
    facts.learn(kOdd, b.get(kOdd));
  }

  // finite
  if (e.is(kNegative) && b.is(kZero)) facts.learn(kFinite, false);
  if (e.is(kNegative) && (b.is(kInfinite) || b.is(kNonzero))) facts.learn(kFinite, true);
  if (b.is(kFinite) && e.is(kFinite) && (e.is(kNonnegative) || b.is_not(kZero))) facts.learn(kFinite, true);

  // real and rational
  if (b.is(kExtendedReal) && e.is(kExtendedReal)) {
    if (b.is(kExtendedPositive) || (b.is(kExtendedNonnegative) && e.is(kExtendedNonnegative)) ||
        (e.is(kInteger) && b.is(kExtendedNonzero)) || exponent_is_natural)
      facts.learn(kExtendedReal, true);
  }
  if (e.is(kInteger) && b.is(kRational) && (b.is_not(kZero) || e.is(kNonnegative)))
    facts.learn(kRational, true);

  // zero
  if (b.is(kZero) && e.is(kExtendedPositive)) facts.learn(kZero, true);
  if (b.is_not(kZero) && ((b.is(kFinite) && e.is(kFinite)) || e.is(kNonnegative))) facts.learn(kZero, false);
  if (b.is_not(kZero) && e.is(kNegative)) facts.learn(kZero, b.get(kInfinite));
  if (!b.is_known(kZero) && b.is(kFinite) && e.is(kNegative)) facts.learn(kZero, false);

  // sign
  if (b.is(kPositive)) {
    if (e.is(kReal)) facts.learn(kExtendedPositive, true);
  } else if (b.is(kExtendedNegative)) {
    if (e.is(kEven)) facts.learn(kExtendedPositive, true);
    if (e.is(kOdd)) facts.learn(kExtendedPositive, false);
  } else if (b.is(kExtendedNonpositive) && e.is(kOdd)) {
    facts.learn(kExtendedPositive, false);
  }
  if (b.is(kExtendedNegative)) {
    if (e.is(kOdd) && b.is(kFinite)) facts.learn(kExtendedNegative, true);
    if (e.is(kEven)) facts.learn(kExtendedNegative, false);
  } else if ((b.is(kExtendedPositive) && e.is(kExtendedReal)) ||
             (b.is(kExtendedNonnegative) && e.is(kExtendedNonnegative)) ||
             (b.is(kExtendedReal) && e.is(kEven))) {
    facts.learn(kExtendedNegative, false);
  }
  if (node.constant && base.is_number() && exponent.is_number() && base.number().sign() > 0) {
    facts.learn(kPositive, true);
    facts.learn(kInteger, false);  // an integer root would have been evaluated
    if (base.number().is_rational() && exponent.number().is_rational()) facts.learn(kRational, false);
  }
  return facts;
}

}  // namespace flambeau::symbolic
