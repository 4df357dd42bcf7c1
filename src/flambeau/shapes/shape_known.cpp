// What is known without asking: replacements, ranges, axioms and divisibility.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/shapes/proof.h"
#include "flambeau/shapes/shape_env.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/condition.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::Fact;
using symbolic::Kind;
using symbolic::Number;
using symbolic::ValueRange;

namespace {

bool is_quotient(const Expr& expr) {
  return expr.kind() == Kind::kFloorDiv || expr.kind() == Kind::kCleanDiv;
}

bool has_division(const Expr& expr) {
  return is_quotient(expr) ||
         std::ranges::any_of(expr.args(), [](const Expr& arg) { return has_division(arg); });
}

// Of symbols, or of a symbol and a number that is not -1.
bool has_product(const Expr& expr) {
  if (expr.kind() == Kind::kPow) return true;
  if (expr.kind() == Kind::kMul && !(expr.args().size() == 2 && expr.arg(0).is(-1))) return true;
  return std::ranges::any_of(expr.args(), has_product);
}

}  // namespace

Expr ShapeEnv::find_replacement(const Expr& symbol) const {
  const SymbolInfo* found = find(symbol.name());
  if (found == nullptr || !found->replacement) return symbol;
  return replace(*found->replacement);
}

Expr ShapeEnv::replace(const Expr& expr) const {
  if (!has_replacements_ || expr.is_constant()) return expr;
  symbolic::Replacements replacements;
  for (const Expr& symbol : free_symbols(expr)) {
    const Expr target = find_replacement(symbol);
    if (!(target == symbol)) replacements.emplace(symbol, target);
  }
  return replacements.empty() ? expr : expand(substitute(expr, replacements));
}

symbolic::SymInt ShapeEnv::simplify(const symbolic::SymInt& value) {
  return value.is_literal() ? value : symbolic::SymInt(simplify(value.expr()), *this);
}

bool ShapeEnv::is_divisible(const Expr& base, const Expr& divisor) {
  return divisible_.contains(replace(symbolic::mod(base, divisor)));
}

Expr ShapeEnv::simplify(const Expr& expr) {
  if (expr.is_symbol() && !has_replacements_) return expr;
  if (const auto found = simplified_.find(expr); found != simplified_.end()) return found->second;
  Expr result = simplify_anew(expr);
  simplified_.emplace(expr, result);
  return result;
}

Expr ShapeEnv::simplify_anew(const Expr& given) {
  Expr expr = replace(expand(given));
  symbolic::Replacements replacements;
  for (const Expr& most : find_all(expr, Kind::kMax)) {
    if (most.args().size() != 2) continue;
    for (size_t i = 0; i < 2; ++i) {
      const Expr& least = most.arg(i);
      const Expr& other = most.arg(1 - i);
      if (!least.is(0) && !least.is(1)) continue;
      if (known(symbolic::ge(other, least)) == true) replacements.emplace(most, other);
    }
  }
  if (!replacements.empty()) expr = substitute(expr, replacements);

  replacements.clear();
  for (const Expr& cut : find_all(expr, Kind::kTruncToInt)) {
    if (cut.arg(0).kind() != Kind::kIntTrueDiv) continue;
    const Expr& base = cut.arg(0).arg(0);
    const Expr& divisor = cut.arg(0).arg(1);
    const bool is_clean = symbolic::mod(base, divisor).is(0);
    replacements.emplace(cut, is_clean ? clean_div(base, divisor) : floor_div(base, divisor));
  }
  if (!replacements.empty()) expr = substitute(expr, replacements);
  if (divisible_.empty() || !has_division(expr)) return expr;

  // a // (a // b) is b where both divide without a remainder.
  replacements.clear();
  for (const Expr& division : find_all(expr, Kind::kFloorDiv)) {
    const Expr& inner = division.arg(1);
    if (is_quotient(inner) && inner.arg(0) == division.arg(0) && is_divisible(division.arg(0), inner) &&
        is_divisible(inner.arg(0), inner.arg(1)))
      replacements.emplace(division, inner.arg(1));
  }
  if (!replacements.empty()) expr = expand(substitute(expr, replacements));
  replacements.clear();
  for (const Expr& division : find_all(expr, Kind::kFloorDiv))
    if (is_divisible(division.arg(0), division.arg(1)))
      replacements.emplace(division, clean_div(division.arg(0), division.arg(1)));
  return replacements.empty() ? expr : expand(substitute(expr, replacements));
}

bool ShapeEnv::is_sum_of_nonnegative(const Expr& expr) const {
  const auto is_nonnegative = [this](const Expr& term) {
    if (term.is_number()) return term.number().sign() >= 0;
    if (!term.is_symbol()) return false;
    const SymbolInfo* found = find(term.name());
    return found != nullptr && found->range.lower().sign() >= 0;
  };
  if (expr.kind() != Kind::kAdd) return is_nonnegative(expr);
  return std::ranges::all_of(expr.args(), is_nonnegative);
}

namespace {

// The expression over symbols that start at 1, which is what facts are strongest about: s0 >= 3 is t0 + 2.
struct Shifted {
  Expr expr;
  std::unordered_map<std::string, ValueRange> ranges;
};

bool has_fraction(const Expr& expr) {
  if (expr.is_number()) return !expr.is_integer();
  if (expr.kind() == Kind::kPow && !(expr.arg(1).is_integer() && expr.arg(1).integer() > 0)) return true;
  return std::ranges::any_of(expr.args(), has_fraction);
}

// Quotients of products that come out even: a**2 // a is a. Sizes are not zero where it matters.
Expr divide_out(const Expr& expr) {
  symbolic::Replacements quotients;
  for (const Expr& division : find_all(expr, Kind::kFloorDiv)) {
    if (division.arg(1).is_constant()) continue;
    const Expr quotient = expand(symbolic::divide(division.arg(0), division.arg(1)));
    if (!has_fraction(quotient)) quotients.emplace(division, quotient);
  }
  return quotients.empty() ? expr : expand(substitute(expr, quotients));
}

Shifted shift(const ShapeEnv& env, const Expr& given, bool unbacked_only) {
  const Expr expr = has_division(given) ? divide_out(given) : given;
  Shifted result{.expr = expr, .ranges = {}};
  std::vector<Expr> symbols = free_symbols(expr);
  std::ranges::sort(symbols, {}, [](const Expr& symbol) { return symbol.name(); });
  symbolic::Replacements replacements;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const SymbolInfo& info = env.info(symbols[i]);
    if (!info.range.lower().is_integer() || (unbacked_only && info.is_backed())) {
      result.ranges.emplace(std::string(symbols[i].name()), info.range);
      continue;
    }
    const std::string name = fmt::format("evaluate_static_shape_{}", i);
    const Number offset = add(info.range.lower(), Number(-1));
    const Expr moved = symbolic::symbol(name, {{Fact::kPositive, true}, {Fact::kInteger, true}});
    replacements.emplace(symbols[i], symbolic::add(moved, Expr(offset)));
    result.ranges.emplace(
        name, ValueRange(add(info.range.lower(), negate(offset)), add(info.range.upper(), negate(offset))));
  }
  result.expr = canonical_condition(expand(substitute(expr, replacements)));
  return result;
}

std::optional<Expr> value_of(const Shifted& shifted) {
  const Expr& expr = shifted.expr;
  if (expr.is_number() || expr.kind() == Kind::kTrue || expr.kind() == Kind::kFalse) return expr;
  const ValueRange range = symbolic::bounds(expr, [&](std::string_view name) -> std::optional<ValueRange> {
    const auto found = shifted.ranges.find(std::string(name));
    return found == shifted.ranges.end() ? std::nullopt : std::optional(found->second);
  });
  if (!range.is_single()) return std::nullopt;
  return range.is_bool() ? symbolic::boolean(range.lower().truth()) : Expr(range.lower());
}

bool is_value(const Expr& expr) {
  return expr.is_number() || expr.kind() == Kind::kTrue || expr.kind() == Kind::kFalse;
}

}  // namespace

std::optional<Expr> ShapeEnv::evaluate_static(const Expr& given, bool uses_axioms) {
  if (uses_axioms) {
    if (const auto found = answers_.find(given); found != answers_.end()) return found->second;
  }
  std::optional<Expr> result;
  Expr expr = canonical_condition(simplify(given));
  if (uses_axioms && !axioms_.empty() && !is_value(expr)) {
    // A condition is looked up whole and in its parts; numbers hold no conditions.
    if (const auto found = axioms_.find(expr); found != axioms_.end()) {
      expr = symbolic::boolean(found->second);
    } else if (expr.is_boolean() && !expr.is_relation()) {
      symbolic::Replacements facts;
      for (const auto& [fact, value] : axioms_)
        if (contains(expr, fact)) facts.emplace(fact, symbolic::boolean(value));
      if (!facts.empty()) expr = substitute(expr, facts);
    }
  }
  result = is_value(expr) ? std::optional(expr) : value_of(shift(*this, expr, false));
  if (uses_axioms) answers_.emplace(given, result);
  return result;
}

std::optional<bool> ShapeEnv::known_from_ranges(const Expr& condition) {
  const std::optional<Expr> result = evaluate_static(condition, false);
  if (!result) return std::nullopt;
  return result->kind() == Kind::kTrue;
}

bool ShapeEnv::is_proved(const Expr& condition) const {
  if (is_like_pytorch_) return false;
  return trace::is_proved(condition, [this](std::string_view name) -> std::optional<ValueRange> {
    const SymbolInfo* const found = find(name);
    return found == nullptr ? std::nullopt : std::optional(found->range);
  });
}

std::optional<bool> ShapeEnv::answer_in_rule(const Expr& condition) {
  if (rule_ == InRule::Rule::kNone) return std::nullopt;
  const RangeOf usual = [this](std::string_view name) -> std::optional<ValueRange> {
    const SymbolInfo* const found = find(name);
    if (found == nullptr) return std::nullopt;
    const ValueRange most_sizes(Number(2), found->range.upper());
    const bool is_size = !found->is_backed() && found->is_size_like && overlaps(most_sizes, found->range);
    return is_size ? found->range.intersect(most_sizes) : found->range;
  };
  if (trace::is_proved(condition, usual)) return true;
  if (trace::is_proved(symbolic::not_(condition), usual)) return false;
  // Rules ask for what they refuse. Products are strides, whose order is no reason to refuse anything.
  const Kind kind = condition.kind();
  const bool is_bound = kind == Kind::kLt || kind == Kind::kLe || kind == Kind::kGt || kind == Kind::kGe;
  if (is_like_pytorch_ || !is_bound || has_product(condition)) return std::nullopt;
  if ((kind == Kind::kLt || kind == Kind::kGe) && condition.arg(1).is(0)) {
    if (rule_ == InRule::Rule::kAsserts) check_is_size(symbolic::SymInt(condition.arg(0), *this));
    return kind == Kind::kGe;
  }
  if (rule_ == InRule::Rule::kAsserts) check(symbolic::not_(condition));
  return false;
}

Expr ShapeEnv::without_unbacked(const Expr& condition) {
  if (!has_unbacked(condition)) return condition;
  Expr expr = canonical_condition(simplify(condition));
  if (is_value(expr)) return expr;
  const Shifted shifted = shift(*this, expr, true);
  return value_of(shifted).value_or(shifted.expr);
}

}  // namespace flambeau::trace
