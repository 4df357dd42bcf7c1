// Functions by name, and all that is built the same way: evaluate when the arguments are numbers, keep
// otherwise.
#include <fmt/format.h>

#include <cmath>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/forms/functions.h"
#include "flambeau/symbolic/forms/relation.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/require.h"
#include "flambeau/symbolic/stride_check.h"

namespace flambeau::symbolic {
namespace {

const std::unordered_map<std::string_view, Kind>& kinds_by_name() {
  static const std::unordered_map<std::string_view, Kind> names = [] {
    std::unordered_map<std::string_view, Kind> result;
    for (int i = static_cast<int>(Kind::kAdd); i < static_cast<int>(Kind::kFunction); ++i)
      result.emplace(kind_info(static_cast<Kind>(i)).name, static_cast<Kind>(i));
    // What str() and Python code call them.
    for (const auto& [name, kind] :
         std::initializer_list<std::pair<std::string_view, Kind>>{{"Eq", Kind::kEq},
                                                                  {"Ne", Kind::kNe},
                                                                  {"Lt", Kind::kLt},
                                                                  {"Le", Kind::kLe},
                                                                  {"Gt", Kind::kGt},
                                                                  {"Ge", Kind::kGe},
                                                                  {"abs", Kind::kAbs}})
      result.emplace(name, kind);
    return result;
  }();
  return names;
}

Expr plain_function(Kind kind, std::vector<Expr> args, std::string_view name) {
  std::vector<Number> numbers;
  for (const Expr& arg : args) {
    if (arg.is_number()) {
      numbers.push_back(arg.number());
    } else if (arg.kind() == Kind::kTrue || arg.kind() == Kind::kFalse) {
      numbers.push_back(Number::boolean(arg.kind() == Kind::kTrue));
    }
  }
  if (numbers.size() == args.size()) {
    const std::string_view full_name = name.empty() ? kind_info(kind).name : name;
    if (const std::optional<Number> value = evaluate_function(kind, full_name, numbers))
      return value->is_boolean() ? boolean(value->truth()) : Expr(*value);
  }
  return make_node(kind, std::move(args), name);
}

// floor or ceiling of a value known to lie between two neighbouring integers near zero.
std::optional<int64_t> small_rounding(Kind kind, const Expr& value) {
  if (!value.facts().is(Fact::kReal)) return std::nullopt;
  if (value.facts().is(Fact::kZero)) return 0;
  const bool is_positive = value.facts().is(Fact::kPositive);
  if (!is_positive && !value.facts().is(Fact::kNegative)) return std::nullopt;
  Fraction parts{value, Expr(1)};
  if (value.kind() != Kind::kAdd) parts = split_fraction(value);
  if (!parts.denominator.facts().is(Fact::kPositive)) return std::nullopt;
  const auto is_below = [&](int64_t bound) {
    return is_less(parts.numerator, mul(Expr(bound), parts.denominator)) == Fuzzy(true);
  };
  const auto is_above = [&](int64_t bound) {
    return is_less(mul(Expr(bound), parts.denominator), parts.numerator) == Fuzzy(true);
  };
  const auto is_from = [&](int64_t bound) {
    return is_greater_or_equal(parts.numerator, mul(Expr(bound), parts.denominator)) == Fuzzy(true);
  };
  const auto is_up_to = [&](int64_t bound) {
    return is_greater_or_equal(mul(Expr(bound), parts.denominator), parts.numerator) == Fuzzy(true);
  };
  if (kind == Kind::kFloor) {
    if (is_positive && is_below(1)) return 0;
    if (is_positive && is_from(1) && is_below(2)) return 1;
    if (!is_positive && is_from(-1)) return -1;
    if (!is_positive && is_from(-2) && is_below(-1)) return -2;
  } else {
    if (is_positive && is_up_to(1)) return 1;
    if (is_positive && is_above(1) && is_up_to(2)) return 2;
    if (!is_positive && is_above(-1)) return 0;
    if (!is_positive && is_above(-2) && is_up_to(-1)) return -1;
  }
  return std::nullopt;
}

// floor or ceiling of roots of numbers; nothing when the value is too close to an integer to tell.
std::optional<int64_t> constant_rounding(Kind kind, const Expr& value) {
  const std::optional<double> number = approximate(value);
  if (!number || std::fabs(*number) > 1e12 || std::fabs(*number - std::nearbyint(*number)) < 1e-6)
    return std::nullopt;
  return static_cast<int64_t>(kind == Kind::kFloor ? std::floor(*number) : std::ceil(*number));
}

Expr round_towards(Kind kind, const Expr& value) {
  require_arithmetic(std::vector<Expr>{value}, kind_info(kind).name);
  if (value.is_number()) return plain_function(kind, {value}, {});
  if (value.kind() == Kind::kFloor || value.kind() == Kind::kCeiling) return value;
  if (const std::optional<int64_t> rounded = constant_rounding(kind, value)) return Expr(*rounded);
  if (const std::optional<int64_t> small = small_rounding(kind, value)) return Expr(*small);
  if (value.facts().is(Fact::kInteger) || value.facts().is_not(Fact::kFinite)) return value;
  // Whole terms leave the rounding.
  std::vector<Expr> whole;
  std::vector<Expr> rest;
  for (const Expr& term : terms_of(value)) (term.facts().is(Fact::kInteger) ? whole : rest).push_back(term);
  const Expr inner = add(std::move(rest));
  const bool is_rounded = inner.kind() == Kind::kFloor || inner.kind() == Kind::kCeiling;
  whole.push_back(is_rounded                              ? inner
                  : inner.is_constant() && !whole.empty() ? round_towards(kind, inner)
                                                          : make_node(kind, {inner}));
  return add(std::move(whole));
}

Expr divide_true(Kind kind, const Expr& a, const Expr& b) {
  require_arithmetic(std::vector<Expr>{a, b}, kind_info(kind).name);
  if (b.facts().is(Fact::kZero)) throw_division_by_zero(kind_info(kind).name);
  if (kind == Kind::kIntTrueDiv && a.is_number() && b.is_number()) {
    const bool evaluates =
        (a.is_integer() && b.is_integer()) || a.number().is_infinite() || b.number().is_infinite();
    if (!evaluates) return make_node(kind, {a, b});
  }
  return plain_function(kind, {a, b}, {});
}

void check_count(std::string_view name, Kind kind, size_t count) {
  const int expected = kind_info(kind).argument_count;
  if (expected >= 0 && count != static_cast<size_t>(expected))
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} takes {} argument{}, found {}", printable(name),
                                                         expected, expected == 1 ? "" : "s", count));
}

Expr piecewise_of_pairs(const std::vector<Expr>& pairs) {
  std::vector<std::pair<Expr, Expr>> pieces;
  for (const Expr& pair : pairs) {
    if (pair.kind() != Kind::kPair)
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("Piecewise takes pairs of a value and a condition, found {}", pair.name()));
    pieces.emplace_back(pair.arg(0), pair.arg(1));
  }
  if (pieces.empty()) throw Error(ErrorCode::kInvalidArgument, "Piecewise has no pieces");
  return piecewise(std::move(pieces));
}

Expr apply_kind(Kind kind, std::vector<Expr> args) {
  switch (kind) {
    case Kind::kAdd:
      return add(std::move(args));
    case Kind::kMul:
      return mul(std::move(args));
    case Kind::kPow:
      return pow(args[0], args[1]);
    case Kind::kEq:
      return eq(args[0], args[1]);
    case Kind::kNe:
      return ne(args[0], args[1]);
    case Kind::kLt:
      return lt(args[0], args[1]);
    case Kind::kLe:
      return le(args[0], args[1]);
    case Kind::kGt:
      return gt(args[0], args[1]);
    case Kind::kGe:
      return ge(args[0], args[1]);
    case Kind::kAnd:
      return and_(std::move(args));
    case Kind::kOr:
      return or_(std::move(args));
    case Kind::kNot:
      return not_(args[0]);
    case Kind::kIte:
      return ite(args[0], args[1], args[2]);
    case Kind::kMax:
      return max(std::move(args));
    case Kind::kMin:
      return min(std::move(args));
    case Kind::kPiecewise:
      return piecewise_of_pairs(args);
    case Kind::kPair:
      return make_node(Kind::kPair, std::move(args));
    case Kind::kFloorDiv:
      return floor_div(args[0], args[1]);
    case Kind::kCleanDiv:
      return clean_div(args[0], args[1]);
    case Kind::kMod:
      return mod(args[0], args[1]);
    case Kind::kPythonMod:
      return python_mod(args[0], args[1]);
    case Kind::kModularIndexing:
      return modular_indexing(args[0], args[1], args[2]);
    case Kind::kWhere:
      return where(args[0], args[1], args[2]);
    case Kind::kIntTrueDiv:
    case Kind::kFloatTrueDiv:
      return divide_true(kind, args[0], args[1]);
    case Kind::kPowByNatural:
      return pow_by_natural(args[0], args[1]);
    case Kind::kIdentity:
      return make_node(kind, std::move(args));
    case Kind::kCeiling:
      return ceiling(args[0]);
    case Kind::kFloor:
      return floor(args[0]);
    case Kind::kAbs:
      return abs(args[0]);
    case Kind::kIsNonOverlappingAndDense:
      return non_overlapping_and_dense_indicator(std::move(args));
    case Kind::kBitwiseAnd:
    case Kind::kBitwiseOr:
    case Kind::kBitwiseXor:
      return plain_function(kind, std::move(args), {});
    default:
      require_arithmetic(args, kind_info(kind).name);
      return plain_function(kind, std::move(args), {});
  }
}

}  // namespace

Expr where(const Expr& condition, const Expr& then, const Expr& otherwise) {
  if (condition.kind() == Kind::kTrue) return then;
  if (condition.kind() == Kind::kFalse) return otherwise;
  return make_node(Kind::kWhere, {condition, then, otherwise});
}

Expr abs(const Expr& value) {
  require_arithmetic(std::vector<Expr>{value}, "Abs");
  if (value.is_number()) return plain_function(Kind::kAbs, {value}, {});
  if (value.kind() == Kind::kMul) {
    // |2*x*y| is 2*|x*y|: what has a known sign leaves.
    std::vector<Expr> known;
    std::vector<Expr> unknown;
    for (const Expr& factor : value.args()) {
      const Expr part = abs(factor);
      if (part.kind() == Kind::kAbs) {
        unknown.push_back(factor);
      } else {
        known.push_back(part);
      }
    }
    if (!unknown.empty()) {
      const Expr rest = mul(std::move(unknown));
      known.push_back(make_node(Kind::kAbs, {rest}));
    }
    return mul(std::move(known));
  }
  if (value.kind() == Kind::kPow && value.arg(0).facts().is(Fact::kExtendedReal) &&
      value.arg(1).facts().is(Fact::kInteger)) {
    if (value.arg(1).facts().is(Fact::kEven)) return value;
    return pow(abs(value.arg(0)), value.arg(1));
  }
  if (value.facts().is(Fact::kZero)) return Expr(0);
  if (value.facts().is(Fact::kExtendedNonnegative)) return value;
  if (value.facts().is(Fact::kExtendedNonpositive)) return negate(value);
  return make_node(Kind::kAbs,
                   {value.kind() == Kind::kAdd && could_extract_minus_sign(value) ? negate(value) : value});
}

Expr floor(const Expr& value) { return round_towards(Kind::kFloor, value); }
Expr ceiling(const Expr& value) { return round_towards(Kind::kCeiling, value); }
Expr to_float(const Expr& value) { return plain_function(Kind::kToFloat, {value}, {}); }
Expr int_true_div(const Expr& a, const Expr& b) { return divide_true(Kind::kIntTrueDiv, a, b); }
Expr infinity() { return Expr(Number::of_kind(NumberKind::kInfinity)); }
Expr int_infinity() { return Expr(Number::of_kind(NumberKind::kIntInfinity)); }

Expr apply(std::string_view name, std::vector<Expr> args) {
  if (const auto found = kinds_by_name().find(name); found != kinds_by_name().end()) {
    check_count(name, found->second, args.size());
    return apply_kind(found->second, std::move(args));
  }
  if (name.starts_with("OpaqueUnaryFn_")) {
    check_count(name, Kind::kOpaqueUnary, args.size());
    return plain_function(Kind::kOpaqueUnary, std::move(args), name);
  }
  if (name == "sqrt" && args.size() == 1) return pow(args[0], Expr(Number::rational(1, 2)));
  if (name == "CeilDiv" && args.size() == 2) return ceil_div(args[0], args[1]);
  if (name == "LShift" && args.size() == 2) return left_shift(args[0], args[1]);
  if (name == "RShift" && args.size() == 2) return right_shift(args[0], args[1]);
  return make_node(Kind::kFunction, std::move(args), name);
}

Expr undefined_function(std::string_view name, std::vector<Expr> args) {
  return make_node(Kind::kUndefined, std::move(args), name);
}

Expr rebuild(const Expr& expr, std::vector<Expr> args) {
  switch (expr.kind()) {
    case Kind::kNumber:
    case Kind::kTrue:
    case Kind::kFalse:
    case Kind::kSymbol:
      return expr;
    case Kind::kOpaqueUnary:
      return plain_function(Kind::kOpaqueUnary, std::move(args), expr.name());
    case Kind::kFunction:
    case Kind::kUndefined:
      return make_node(expr.kind(), std::move(args), expr.name());
    default:
      return apply_kind(expr.kind(), std::move(args));
  }
}

}  // namespace flambeau::symbolic
