#include "flambeau/symbolic/facts/deduce.h"

#include <cmath>

#include "flambeau/base/error.h"

namespace flambeau::symbolic {
namespace {

bool is_prime(int64_t value) {
  if (value < 2) return false;
  for (int64_t divisor = 2; divisor * divisor <= value; ++divisor)
    if (value % divisor == 0) return false;
  return true;
}

Facts facts_of_extreme(const Node& node) {
  Facts facts;
  using enum Fact;
  // Max and Min have a fact when all arguments agree on it.
  for (const Fact fact :
       {kAlgebraic, kComplex,    kEven,       kExtendedReal,   kFinite,  kHermitian,  kInfinite,
        kInteger,   kIrrational, kNoninteger, kNonpositive,    kNonzero, kOdd,        kPrime,
        kComposite, kRational,   kReal,       kTranscendental, kZero,    kCommutative}) {
    bool all_yes = true;
    bool all_no = true;
    for (const Expr& arg : node.args) {
      all_yes = all_yes && arg.facts().is(fact);
      all_no = all_no && arg.facts().is_not(fact);
    }
    if (all_yes) facts.learn(fact, true);
    if (all_no) facts.learn(fact, false);
  }
  const auto any = [&](Fact fact) -> Fuzzy {
    bool all_no = true;
    for (const Expr& arg : node.args) {
      if (arg.facts().is(fact)) return true;
      all_no = all_no && arg.facts().is_not(fact);
    }
    return all_no ? Fuzzy(false) : std::nullopt;
  };
  const auto all = [&](Fact fact) -> Fuzzy {
    bool all_yes = true;
    for (const Expr& arg : node.args) {
      if (arg.facts().is_not(fact)) return false;
      all_yes = all_yes && arg.facts().is(fact);
    }
    return all_yes ? Fuzzy(true) : std::nullopt;
  };
  const bool is_max = node.kind == Kind::kMax;
  facts.learn(kPositive, is_max ? any(kPositive) : all(kPositive));
  facts.learn(kNonnegative, is_max ? any(kNonnegative) : all(kNonnegative));
  facts.learn(kNegative, is_max ? all(kNegative) : any(kNegative));
  return facts;
}

bool are_all(std::span<const Expr> args, Fact fact) {
  for (const Expr& arg : args)
    if (!arg.facts().is(fact)) return false;
  return true;
}

Facts facts_of_function(const Node& node) {
  Facts facts;
  using enum Fact;
  const std::vector<Expr>& args = node.args;
  switch (node.kind) {
    case Kind::kFloorDiv:
    case Kind::kCleanDiv:
      facts.learn(kInteger, true);
      if (are_all(args, kInteger) && are_all(args, kNonnegative)) facts.learn(kNonnegative, true);
      break;
    case Kind::kMod:
      facts.learn(kInteger, true);
      facts.learn(kNonnegative, true);
      break;
    case Kind::kPythonMod:
      facts.learn(kInteger, true);
      if (args[1].facts().is(kPositive)) facts.learn(kNonnegative, true);
      if (args[1].facts().is(kNegative)) facts.learn(kNonpositive, true);
      break;
    case Kind::kModularIndexing:
      facts.learn(kInteger, true);
      if (args[0].facts().is_known(kNonnegative) && args[1].facts().is_known(kNonnegative))
        facts.learn(kNonnegative, args[0].facts().is(kNonnegative) == args[1].facts().is(kNonnegative));
      break;
    case Kind::kWhere: {
      const std::span<const Expr> values = std::span<const Expr>(args).subspan(1);
      for (const Fact fact : {kInteger, kNonnegative, kPositive})
        if (are_all(values, fact)) facts.learn(fact, true);
      break;
    }
    case Kind::kCeilToInt:
    case Kind::kFloorToInt:
    case Kind::kTruncToInt:
    case Kind::kRoundToInt:
    case Kind::kPowByNatural:
    case Kind::kIsNonOverlappingAndDense:
      facts.learn(kInteger, true);
      break;
    case Kind::kTruncToFloat:
    case Kind::kIntTrueDiv:
    case Kind::kFloatTrueDiv:
    case Kind::kFloatPow:
    case Kind::kToFloat:
    case Kind::kRoundDecimal:
      facts.learn(kReal, true);
      break;
    case Kind::kIdentity:
      facts.learn(kInteger, args[0].facts().get(kInteger));
      facts.learn(kReal, args[0].facts().get(kReal));
      break;
    case Kind::kCeiling:
    case Kind::kFloor:
      if (args[0].facts().is(kFinite))
        facts.learn(kInteger, args[0].facts().is(kReal) ? Fuzzy(true) : std::nullopt);
      if (node.kind == Kind::kFloor && args[0].facts().is(kNonnegative)) facts.learn(kNonnegative, true);
      if (node.kind == Kind::kFloor && args[0].facts().is(kNegative)) facts.learn(kNegative, true);
      if (node.kind == Kind::kCeiling && args[0].facts().is(kPositive)) facts.learn(kPositive, true);
      if (node.kind == Kind::kCeiling && args[0].facts().is(kNonpositive)) facts.learn(kNonpositive, true);
      break;
    case Kind::kAbs:
      facts.learn(kExtendedReal, true);
      facts.learn(kExtendedNonnegative, true);
      facts.learn(kZero, args[0].facts().get(kZero));
      facts.learn(kFinite, args[0].facts().get(kFinite));
      if (args[0].facts().is(kExtendedReal)) {
        for (const Fact fact : {kInteger, kEven, kOdd, kRational})
          facts.learn(fact, args[0].facts().get(fact));
      }
      break;
    case Kind::kPiecewise:
      // Whatever all its values have; a value nobody reaches does not matter.
      for (int i = 0; i < kFactCount; ++i) {
        const auto fact = static_cast<Fact>(i);
        Fuzzy common = args[0].arg(0).facts().get(fact);
        for (const Expr& pair : args)
          if (pair.arg(0).facts().get(fact) != common) common = std::nullopt;
        facts.learn(fact, common);
      }
      break;
    default:
      break;
  }
  return facts;
}

}  // namespace

Facts facts_of_number(const Number& number) {
  using enum Fact;
  Facts facts;
  facts.learn(kCommutative, true);
  const int sign = number.sign();
  switch (number.kind()) {
    case NumberKind::kInteger:
      facts.learn(kInteger, true);
      facts.learn(kEven, number.numerator() % 2 == 0);
      if (sign > 0) {
        // Primality matters to no rule about larger numbers, and testing those would take long.
        if (number.numerator() < (int64_t{1} << 20)) {
          facts.learn(kPrime, is_prime(number.numerator()));
          facts.learn(kComposite, number.numerator() > 1 && !is_prime(number.numerator()));
        }
      } else {
        facts.learn(kPrime, false);
        facts.learn(kComposite, false);
      }
      facts.learn(kZero, sign == 0);
      facts.learn(kPositive, sign > 0);
      break;
    case NumberKind::kRational:
      facts.learn(kRational, true);
      facts.learn(kInteger, false);
      facts.learn(kPositive, sign > 0);
      facts.learn(kZero, false);
      break;
    case NumberKind::kFloat:
      // sympy says of a float neither that it is rational nor that it is not.
      facts.learn(kReal, true);
      facts.learn(kZero, sign == 0);
      facts.learn(kPositive, sign > 0);
      if (std::floor(number.to_double()) != number.to_double()) facts.learn(kInteger, false);
      break;
    case NumberKind::kInfinity:
    case NumberKind::kNegativeInfinity:
      facts.learn(kInfinite, true);
      facts.learn(kExtendedReal, true);
      facts.learn(kExtendedPositive, sign > 0);
      facts.learn(kZero, false);
      break;
    case NumberKind::kIntInfinity:
    case NumberKind::kNegativeIntInfinity:
      // PyTorch's integer infinities call themselves integers, hence finite.
      facts.learn(kInteger, true);
      facts.learn(sign > 0 ? kExtendedPositive : kExtendedNegative, true);
      facts.learn(kPrime, false);
      break;
    case NumberKind::kComplexInfinity:
      facts.learn(kInfinite, true);
      facts.learn(kExtendedReal, false);
      facts.learn(kPrime, false);
      break;
    case NumberKind::kNaN:
    case NumberKind::kBoolean:
      break;
  }
  return facts;
}

Fuzzy group_fact(std::span<const Expr> args, Fact fact) {
  bool saw_other = false;
  for (const Expr& arg : args) {
    const Fuzzy value = arg.facts().get(fact);
    if (!value) return std::nullopt;
    if (*value) continue;
    if (saw_other) return std::nullopt;
    saw_other = true;
  }
  return !saw_other;
}

namespace {

Fuzzy group_commutes(std::span<const Expr> args) {
  for (const Expr& arg : args)
    if (!arg.facts().is(Fact::kCommutative)) return arg.is_boolean() ? Fuzzy(true) : std::nullopt;
  return true;
}

}  // namespace

Facts deduce_facts(const Node& node) {
  Facts facts;
  try {
    switch (node.kind) {
      case Kind::kNumber:
        facts = facts_of_number(node.number);
        break;
      case Kind::kAdd:
        facts = facts_of_sum(node);
        break;
      case Kind::kMul:
        facts = facts_of_product(node);
        break;
      case Kind::kPow:
        facts = facts_of_power(node);
        break;
      case Kind::kMax:
      case Kind::kMin:
        facts = facts_of_extreme(node);
        break;
      default:
        facts = facts_of_function(node);
        break;
    }
  } catch (const Error&) {
    // A bound that leaves 64 bits: the question stays open, the expression itself is fine.
    facts = Facts();
  }
  // sympy knows of no relation that it commutes, nor of what is chosen by one, unless it is an integer.
  const bool is_chosen =
      node.kind == Kind::kWhere && (node.args[0].is_relation() || node.args[0].kind() == Kind::kNot);
  if (!is_chosen) facts.learn(Fact::kCommutative, group_commutes(node.args));
  Facts closed = facts;
  return closed.deduce() ? closed : facts;
}

}  // namespace flambeau::symbolic
