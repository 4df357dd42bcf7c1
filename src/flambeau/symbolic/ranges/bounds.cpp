// Interval analysis over expressions.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/forms/functions.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/ranges/range_arithmetic.h"
#include "flambeau/symbolic/ranges/value_range.h"

namespace flambeau::symbolic {
namespace {

ValueRange of_bool(bool value) { return ValueRange::single(Number::boolean(value)); }

bool may_be(const ValueRange& range, bool value) {
  if (range.is_bool()) return range.contains(Number::boolean(value));
  const bool may_be_zero = range.contains(Number(0));
  return value ? !(range.is_single() && may_be_zero) : may_be_zero;
}

Number signed_infinity(bool is_positive) {
  return Number::of_kind(is_positive ? NumberKind::kIntInfinity : NumberKind::kNegativeIntInfinity);
}

// Whole numbers within a range of floats; `kind` says how ends are rounded.
ValueRange round_range(Kind lower_kind, Kind upper_kind, const ValueRange& range) {
  const auto round = [](Kind kind, const Number& number, bool is_upper) {
    if (number.is_infinite()) return signed_infinity(number.sign() > 0);
    try {
      return round_number(kind, number);
    } catch (const Error&) {
      // Beyond 64 bits on its own side of zero; the other end of the range must not cross it.
      return is_upper == (number.sign() > 0) ? signed_infinity(is_upper)
                                             : Number(is_upper ? std::numeric_limits<int64_t>::min()
                                                               : std::numeric_limits<int64_t>::max());
    }
  };
  return {round(lower_kind, range.lower(), false), round(upper_kind, range.upper(), true)};
}

class Analysis {
 public:
  explicit Analysis(const RangeLookup& ranges) : ranges_(ranges) {}

  ValueRange range(const Expr& expr) {
    const auto found = known_.find(&expr.node());
    if (found != known_.end()) return found->second;
    ValueRange result = compute(expr);
    if (!result.is_bool() && !result.is_int() && expr.facts().is(Fact::kInteger)) {
      // Halves that add up to an integer: only whole ends matter.
      const Number low = result.lower();
      const Number high = result.upper();
      try {
        result = round_range(Kind::kCeiling, Kind::kFloor, ValueRange(low, high));
      } catch (const Error&) {
        result = ValueRange::unknown_int();
      }
    }
    known_.emplace(&expr.node(), result);
    return result;
  }

 private:
  ValueRange compute(const Expr& expr) {
    switch (expr.kind()) {
      case Kind::kNumber:
        if (expr.number().is_nan() || expr.number().kind() == NumberKind::kComplexInfinity)
          return ValueRange::unknown();
        return ValueRange::single(expr.number());
      case Kind::kTrue:
        return of_bool(true);
      case Kind::kFalse:
        return of_bool(false);
      case Kind::kSymbol:
        return symbol_range(expr);
      case Kind::kAdd:
        return fold(expr, add_ranges);
      case Kind::kMul:
        return fold(expr, multiply_ranges);
      case Kind::kPow:
        return power(expr);
      case Kind::kMax:
      case Kind::kMin:
        return fold(
            expr, [&](const ValueRange& a, const ValueRange& b) { return extreme_range(expr.kind(), a, b); });
      case Kind::kPiecewise:
        return piecewise(expr);
      case Kind::kIte:
      case Kind::kWhere:
        return choice(expr);
      default:
        return expr.is_boolean() ? condition(expr) : function(expr);
    }
  }

  ValueRange symbol_range(const Expr& expr) const {
    if (ranges_)
      if (const std::optional<ValueRange> given = ranges_(expr.name())) return *given;
    const Facts& facts = expr.facts();
    const bool is_int = facts.is(Fact::kInteger);
    Number low = is_int ? signed_infinity(false) : Number::of_kind(NumberKind::kNegativeInfinity);
    Number high = is_int ? signed_infinity(true) : Number::of_kind(NumberKind::kInfinity);
    if (facts.is(Fact::kNonnegative)) low = facts.is(Fact::kPositive) && is_int ? Number(1) : Number(0);
    if (facts.is(Fact::kNonpositive)) high = facts.is(Fact::kNegative) && is_int ? Number(-1) : Number(0);
    return {low, high};
  }

  template <typename Operation>
  ValueRange fold(const Expr& expr, Operation&& operation) {
    ValueRange result = number_range(expr.arg(0));
    for (const Expr& arg : expr.args().subspan(1)) result = operation(result, number_range(arg));
    return result;
  }

  // Conditions used as numbers are 0 and 1.
  ValueRange number_range(const Expr& expr) {
    const ValueRange result = range(expr);
    if (!result.is_bool()) return result;
    return {Number(result.lower().numerator()), Number(result.upper().numerator())};
  }

  ValueRange power(const Expr& expr) {
    const ValueRange base = number_range(expr.arg(0));
    const Expr& exponent = expr.arg(1);
    if (!exponent.is_integer()) {
      const bool is_root =
          exponent.is_number() && exponent.number().sign() > 0 && exponent.number().is_finite();
      if (is_root && base.lower().sign() >= 0)
        return monotone(as_floats(base),
                        [&](double x) { return std::pow(x, exponent.number().to_double()); });
      if (base.lower().sign() > 0) return {Number::real(0), Number::of_kind(NumberKind::kInfinity)};
      return ValueRange::unknown();
    }
    if (exponent.integer() >= 0) return power_range(base, exponent.integer());
    if (exponent.integer() == std::numeric_limits<int64_t>::min()) return ValueRange::unknown();
    return divide_ranges(ValueRange::single(Number(1)), power_range(base, -exponent.integer()));
  }

  ValueRange piecewise(const Expr& expr) {
    std::optional<ValueRange> result;
    for (const Expr& pair : expr.args()) {
      const ValueRange test = range(pair.arg(1));
      if (!may_be(test, true)) continue;
      const ValueRange value = range(pair.arg(0));
      result = result ? result->join(value) : value;
      if (!may_be(test, false)) break;
    }
    return result.value_or(ValueRange::unknown());
  }

  ValueRange choice(const Expr& expr) {
    const ValueRange test = range(expr.arg(0));
    if (!may_be(test, false)) return range(expr.arg(1));
    if (!may_be(test, true)) return range(expr.arg(2));
    const ValueRange a = range(expr.arg(1));
    return a.join(range(expr.arg(2)));
  }

  ValueRange condition(const Expr& expr) {
    const auto truth = [&](const Expr& arg) { return range(arg); };
    switch (expr.kind()) {
      case Kind::kNot: {
        const ValueRange inner = truth(expr.arg(0));
        return {Number::boolean(!may_be(inner, true)), Number::boolean(may_be(inner, false))};
      }
      case Kind::kAnd:
      case Kind::kOr: {
        const bool is_and = expr.kind() == Kind::kAnd;
        bool low = is_and;
        bool high = is_and;
        for (const Expr& arg : expr.args()) {
          const ValueRange inner = truth(arg);
          const bool always = !may_be(inner, false);
          const bool ever = may_be(inner, true);
          low = is_and ? low && always : low || always;
          high = is_and ? high && ever : high || ever;
        }
        return {Number::boolean(low), Number::boolean(high)};
      }
      default:
        return relation(expr.kind(), range(expr.arg(0)), range(expr.arg(1)));
    }
  }

  static ValueRange relation(Kind kind, const ValueRange& a, const ValueRange& b) {
    if (a.is_bool() != b.is_bool()) return ValueRange::unknown_bool();
    const int less = compare_ranges_strict(a, b);     // -1: a < b
    const int greater = compare_ranges_strict(b, a);  // -1: b < a
    const auto decide = [](int value) {
      return value == 0 ? ValueRange::unknown_bool() : of_bool(value < 0);
    };
    switch (kind) {
      case Kind::kLt:
        return decide(less);
      case Kind::kGt:
        return decide(greater);
      case Kind::kGe:
        return decide(-less);
      case Kind::kLe:
        return decide(-greater);
      default:
        break;
    }
    const bool is_equality = kind == Kind::kEq;
    if (less == -1 || greater == -1) return of_bool(!is_equality);
    if (a.is_single() && b.is_single() && a.lower().is_finite() && compare(a.lower(), b.lower()) == 0)
      return of_bool(is_equality);
    return ValueRange::unknown_bool();
  }

  // A function of floats that only grows; nextafter on both sides covers its rounding.
  template <typename Operation>
  static ValueRange monotone(const ValueRange& a, Operation&& operation) {
    const auto apply = [&](const Number& number, double outwards) {
      const double value = operation(number.to_double());
      if (std::isnan(value)) return Number::real(outwards);
      return Number::real(std::nextafter(std::nextafter(value, outwards), outwards));
    };
    const double infinity = std::numeric_limits<double>::infinity();
    return {apply(a.lower(), -infinity), apply(a.upper(), infinity)};
  }

  ValueRange opaque(const Expr& expr, const ValueRange& a) {
    const std::string_view which = expr.name().substr(expr.name().find('_') + 1);
    const ValueRange x = as_floats(a);
    if (which == "sin" || which == "cos" || which == "tanh") return {Number::real(-1), Number::real(1)};
    if (which == "cosh") return {Number::real(1), Number::of_kind(NumberKind::kInfinity)};
    if (which == "exp") {
      const ValueRange result = monotone(x, [](double v) { return std::exp(v); });
      return {result.lower().sign() < 0 ? Number::real(0) : result.lower(), result.upper()};
    }
    if (which == "sqrt" && a.lower().sign() >= 0)
      return monotone(x, [](double v) { return std::sqrt(std::max(v, 0.0)); });
    if (which == "log" && a.lower().sign() > 0) return monotone(x, [](double v) { return std::log(v); });
    if (which == "log2" && a.lower().sign() > 0) return monotone(x, [](double v) { return std::log2(v); });
    return ValueRange::unknown();
  }

  static ValueRange bitwise(Kind kind, const ValueRange& a, const ValueRange& b) {
    if (a.lower().sign() < 0 || b.lower().sign() < 0) return ValueRange::unknown_int();
    if (kind == Kind::kBitwiseAnd)
      return {Number(0), compare(a.upper(), b.upper()) <= 0 ? a.upper() : b.upper()};
    if (!a.upper().is_integer() || !b.upper().is_integer()) return {Number(0), signed_infinity(true)};
    uint64_t bits =
        static_cast<uint64_t>(a.upper().numerator()) | static_cast<uint64_t>(b.upper().numerator());
    for (int shift = 1; shift < 64; shift *= 2) bits |= bits >> shift;
    return {Number(0), Number(static_cast<int64_t>(bits))};
  }

  ValueRange natural_power_range(const ValueRange& a, const ValueRange& b) {
    if (b.is_single() && b.lower().is_integer() && b.lower().sign() >= 0)
      return power_range(a, b.lower().numerator());
    if (a.lower().sign() <= 0) return ValueRange::unknown_int();
    const auto raise = [](const Number& base, const Number& exponent) {
      if (base.is(1)) return Number(1);
      if (base.is_infinite() || exponent.is_infinite()) return signed_infinity(true);
      return natural_power(base.numerator(), std::max<int64_t>(exponent.numerator(), 0));
    };
    Number low = b.lower().sign() <= 0 ? Number(1) : raise(a.lower(), b.lower());
    if (low.is_infinite()) low = Number(std::numeric_limits<int64_t>::max());
    return {low, raise(a.upper(), b.upper().sign() < 0 ? Number(0) : b.upper())};
  }

  ValueRange function(const Expr& expr) {
    const ValueRange a = expr.args().empty() ? ValueRange::unknown() : number_range(expr.arg(0));
    const auto second = [&] { return number_range(expr.arg(1)); };
    switch (expr.kind()) {
      case Kind::kFloorDiv:
      case Kind::kCleanDiv:
        return floor_divide_ranges(a, second());
      case Kind::kMod:
      case Kind::kPythonMod:
        return modulo_ranges(a, second());
      case Kind::kModularIndexing:
        return modulo_ranges(floor_divide_ranges(a, second()), number_range(expr.arg(2)));
      case Kind::kIdentity:
        return a;
      case Kind::kCeilToInt:
      case Kind::kCeiling:
        return round_range(Kind::kCeilToInt, Kind::kCeilToInt, a);
      case Kind::kFloorToInt:
      case Kind::kFloor:
        return round_range(Kind::kFloorToInt, Kind::kFloorToInt, a);
      case Kind::kTruncToInt:
        return round_range(Kind::kTruncToInt, Kind::kTruncToInt, a);
      case Kind::kRoundToInt:
        return round_range(Kind::kRoundToInt, Kind::kRoundToInt, a);
      case Kind::kTruncToFloat:
        return monotone(as_floats(a), [](double x) { return std::trunc(x); });
      case Kind::kToFloat:
        return as_floats(a);
      case Kind::kIntTrueDiv:
      case Kind::kFloatTrueDiv:
        return divide_ranges(a, second());
      case Kind::kPowByNatural:
        return natural_power_range(a, second());
      case Kind::kAbs:
        return absolute_range(a);
      case Kind::kRoundDecimal: {
        const ValueRange digits = second();
        if (!digits.is_single() || !digits.lower().is_integer()) return ValueRange::unknown();
        return monotone(as_floats(a), [&](double x) {
          const Number parts[] = {Number::real(x), digits.lower()};
          const std::optional<Number> value = evaluate_function(Kind::kRoundDecimal, expr.name(), parts);
          return value ? value->to_double() : x;
        });
      }
      case Kind::kOpaqueUnary:
        return opaque(expr, a);
      case Kind::kBitwiseAnd:
      case Kind::kBitwiseOr:
      case Kind::kBitwiseXor:
        return bitwise(expr.kind(), a, second());
      case Kind::kIsNonOverlappingAndDense:
        return {Number(0), Number(1)};
      default:
        return expr.facts().is(Fact::kInteger) ? ValueRange::unknown_int() : ValueRange::unknown();
    }
  }

  const RangeLookup& ranges_;
  std::unordered_map<const Node*, ValueRange> known_;
};

}  // namespace

ValueRange bounds(const Expr& expr, const RangeLookup& ranges) { return Analysis(ranges).range(expr); }

}  // namespace flambeau::symbolic
