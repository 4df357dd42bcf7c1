#include "flambeau/shapes/shape_env.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/shapes/learn.h"
#include "flambeau/shapes/symbol_name.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/forms/condition.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::Fact;
using symbolic::Kind;
using symbolic::Number;
using symbolic::NumberKind;
using symbolic::SymInt;
using symbolic::ValueRange;

namespace {

std::string at_line(const std::string& where) { return where.empty() ? "" : fmt::format(" at {}", where); }

ValueRange range_of(std::optional<int64_t> least, std::optional<int64_t> most) {
  return {least ? Number(*least) : Number::of_kind(NumberKind::kNegativeIntInfinity),
          most ? Number(*most) : Number::int_infinity()};
}

}  // namespace

bool overlaps(const ValueRange& a, const ValueRange& b) {
  return compare(a.lower(), b.upper()) <= 0 && compare(b.lower(), a.upper()) <= 0;
}

ShapeEnv::ShapeEnv() = default;
ShapeEnv::~ShapeEnv() = default;

Expr ShapeEnv::new_symbol(const std::string& name, bool is_size) {
  symbolic::Assumptions assumptions;
  if (is_size) assumptions.emplace_back(Fact::kPositive, true);
  assumptions.emplace_back(Fact::kInteger, true);
  const Expr symbol = symbolic::symbol(name, assumptions);
  auto info = std::make_unique<SymbolInfo>();
  info->symbol = symbol;
  info->range = ValueRange::unknown_int();
  by_name_.emplace(name, info.get());
  symbols_.push_back(std::move(info));
  return symbol;
}

SymInt ShapeEnv::backed(const std::string& source, int64_t hint, const BackedRule& rule) {
  if (rule.range && rule.range->is_single()) {
    if (!(rule.range->lower() == Number(hint))) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} is said to be {}, but the example has {} there", source,
                              to_text(rule.range->lower()), hint),
                  "Say the size that the example has, or make the dimension dynamic");
    }
    return hint;
  }
  if (rule.is_size && (hint == 0 || (hint == 1 && !rule.takes_one))) return hint;
  if (rule.shares) {
    if (const auto found = shared_.find(hint); found != shared_.end()) {
      found->second->sources.push_back(source);
      return SymInt(found->second->symbol, *this);
    }
  }
  int number = symbol_number(source);
  while (!numbers_.insert(number).second) ++number;
  const std::string name = fmt::format("s{}", number);
  const Expr symbol = new_symbol(name, rule.is_size);
  SymbolInfo& info = mutable_info(symbol);
  info.sources.push_back(source);
  info.hint = hint;
  hints_.emplace(name, Number(hint));
  if (rule.shares) shared_.emplace(hint, &info);
  if (rule.is_size) info.range = {Number(hint == 1 ? 1 : 2), Number::int_infinity()};
  if (rule.range) {
    if (!overlaps(*rule.range, info.range) || !info.range.intersect(*rule.range).contains(Number(hint))) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} is {} in the example, which is not in the range [{}, {}] given for it",
                              source, hint, to_text(rule.range->lower()), to_text(rule.range->upper())),
                  "Export with an example inside the range, or widen the range");
    }
    info.range = info.range.intersect(*rule.range);
  }
  return SymInt(symbol, *this);
}

SymInt ShapeEnv::adopt(const Expr& symbol, std::optional<int64_t> hint, const ValueRange& range) {
  const std::string name(symbol.name());
  if (find(name) != nullptr) return SymInt(symbol, *this);
  auto info = std::make_unique<SymbolInfo>();
  info->symbol = symbol;
  info->hint = hint;
  info->range = range;
  if (hint) {
    hints_.emplace(name, Number(*hint));
    if (*hint >= 2 && compare(range.lower(), Number(2)) < 0) info->range = {Number(2), range.upper()};
  } else {
    info->is_size_like = compare(range.lower(), Number(0)) >= 0;
  }
  by_name_.emplace(name, info.get());
  symbols_.push_back(std::move(info));
  return SymInt(symbol, *this);
}

SymInt ShapeEnv::unbacked() {
  const Expr symbol = new_symbol(fmt::format("u{}", unbacked_count_++), false);
  mutable_info(symbol).where = where();
  return SymInt(symbol, *this);
}

SymInt ShapeEnv::unbacked_size(std::optional<int64_t> most) {
  const SymInt value = unbacked();
  constrain_range_for_size(value, 0, most);
  return value;
}

bool ShapeEnv::decide(const Expr& condition) { return answer(condition, std::nullopt); }

bool ShapeEnv::decide_or(const Expr& condition, bool fallback) { return answer(condition, fallback); }

bool ShapeEnv::answer(const Expr& given, std::optional<bool> fallback) {
  if (given.kind() == Kind::kTrue || given.kind() == Kind::kFalse) return given.kind() == Kind::kTrue;
  if (const auto found = answers_.find(given); found != answers_.end() && found->second)
    return found->second->kind() == Kind::kTrue;
  const Expr condition = replace(given);
  if (const std::optional<bool> result = known(condition)) {
    answers_.insert_or_assign(given, symbolic::boolean(*result));
    return *result;
  }
  Expr guard = condition;
  if (has_unbacked(condition)) {
    guard = without_unbacked(condition);
    if (has_unbacked(guard)) {
      if (fallback) return *fallback;
      if (is_proved(condition)) return true;
      if (is_proved(symbolic::not_(condition))) return false;
      if (const std::optional<bool> taken = answer_in_rule(condition)) return *taken;
      throw_data_dependent(condition);
    }
  }
  const bool result = *hint_of_condition(guard);
  add_guard(result ? guard : symbolic::not_(guard));
  return result;
}

std::optional<bool> ShapeEnv::known(const Expr& condition) {
  if (condition.kind() == Kind::kTrue || condition.kind() == Kind::kFalse)
    return condition.kind() == Kind::kTrue;
  // The most common question, worth no more than a look at the ranges.
  const bool is_least = condition.kind() == Kind::kGe && condition.arg(1).is(0);
  const bool is_most = condition.kind() == Kind::kLe && condition.arg(0).is(0);
  if ((is_least && is_sum_of_nonnegative(condition.arg(0))) ||
      (is_most && is_sum_of_nonnegative(condition.arg(1))))
    return true;
  const std::optional<Expr> result = evaluate_static(condition);
  if (!result) return std::nullopt;
  return result->kind() == Kind::kTrue;
}

int64_t ShapeEnv::specialize(const SymInt& value) {
  if (value.is_literal()) return value.literal();
  const Expr expr = replace(value.expr());
  if (const std::optional<Expr> result = evaluate_static(expr); result && result->is_integer())
    return result->integer();
  const std::optional<int64_t> number = hint(expr);
  if (!number) throw_data_dependent(expr);
  add_guard(symbolic::eq(expr, Expr(*number)));
  return *number;
}

void ShapeEnv::add_guard(const Expr& condition) {
  learned_.push_back(condition);
  Learner(*this).learn(condition);
  if (prefers_assertions_ && is_tracing_) {
    forget_answers();
    if (!known(condition)) add_assertion(condition, {});
    return;
  }
  guards_.push_back({condition, where()});
  for (const auto& [fact, value] : implications(simplify(condition))) axioms_.insert_or_assign(fact, value);
  forget_answers();
}

void ShapeEnv::check(const Expr& given, const std::string& message) {
  const Expr condition = replace(given);
  const auto refuse = [&] {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the check {} does not hold{}{}", to_string(condition), at_line(where()),
                            message.empty() ? "" : ": " + message));
  };
  if (const std::optional<bool> result = known(condition)) {
    if (!*result) refuse();
    return;
  }
  if (!has_unbacked(without_unbacked(condition))) {
    if (!prefers_assertions_) {
      if (!decide(condition)) refuse();
      return;
    }
    if (hint_of_condition(condition) == false) refuse();
    if (!has_unbacked(condition)) learned_.push_back(condition);
  }
  Learner(*this).learn(condition);
  add_assertion(condition, message);
}

void ShapeEnv::add_assertion(const Expr& condition, const std::string& message) {
  Assertion assertion{
      .condition = canonical_condition(condition), .message = message, .where = where(), .symbol = {}};
  // u9 comes before u10.
  for (const Expr& symbol : free_symbols(assertion.condition)) {
    if (info(symbol).is_backed()) continue;
    const std::string_view name = symbol.name();
    const std::string& newest = assertion.symbol;
    if (name.size() > newest.size() || (name.size() == newest.size() && name > newest))
      assertion.symbol = name;
  }
  for (const auto& [fact, value] : implications(simplify(assertion.condition)))
    axioms_.insert_or_assign(fact, value);
  assertions_.push_back(std::move(assertion));
  forget_answers();
}

void ShapeEnv::check_is_size(const SymInt& value, std::optional<int64_t> most, const std::string& message) {
  const Expr expr = replace(value.expr());
  check(symbolic::ge(expr, Expr(0)), message);
  if (expr.is_symbol() && !info(expr).is_backed()) constrain_range_for_size(SymInt(expr, *this));
  if (most) check(symbolic::le(expr, Expr(*most)), message);
}

void ShapeEnv::constrain_range(const SymInt& value, std::optional<int64_t> least,
                               std::optional<int64_t> most) {
  const ValueRange range = range_of(least, most);
  const Expr expr = replace(value.expr());
  const auto refuse = [&](const std::string& found) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is {}, which is not in the range [{}, {}]", to_string(expr), found,
                            to_text(range.lower()), to_text(range.upper())));
  };
  if (expr.is_integer() && !range.contains(expr.number())) refuse(to_string(expr));
  if (!expr.is_symbol()) return;
  SymbolInfo& found = mutable_info(expr);
  if (!overlaps(range, found.range) || (found.hint && !range.contains(Number(*found.hint))))
    refuse(found.hint ? fmt::format("{} in the example", *found.hint)
                      : fmt::format("known to be from {} to {}", to_text(found.range.lower()),
                                    to_text(found.range.upper())));
  Learner(*this).narrow(expr, range);
  forget_answers();
}

void ShapeEnv::constrain_range_for_size(const SymInt& value, std::optional<int64_t> least,
                                        std::optional<int64_t> most) {
  constrain_range(value, least.value_or(0), most);
  const Expr expr = replace(value.expr());
  if (!expr.is_symbol()) return;
  mutable_info(expr).is_size_like = true;
  forget_answers();
}

void ShapeEnv::settle() {
  for (const auto& info : symbols_) {
    if (!info->replacement) continue;
    const ValueRange range = bounds(replace(info->symbol));
    if (range.is_int()) narrow(info->symbol, range);
  }
}

bool ShapeEnv::narrow(const Expr& symbol, const ValueRange& range) {
  SymbolInfo& found = mutable_info(symbol);
  if (!overlaps(range, found.range)) return false;
  found.range = found.range.intersect(range);
  forget_answers();
  return true;
}

std::optional<int64_t> ShapeEnv::hint(const Expr& expr) const {
  if (has_unbacked(expr)) return std::nullopt;
  const Number value = evaluate(expr, hints_);
  if (!value.is_integer()) return std::nullopt;
  return value.numerator();
}

std::optional<bool> ShapeEnv::hint_of_condition(const Expr& condition) const {
  if (has_unbacked(condition)) return std::nullopt;
  return evaluate(condition, hints_).truth();
}

ValueRange ShapeEnv::bounds(const Expr& expr) const {
  return symbolic::bounds(expr, [this](std::string_view name) -> std::optional<ValueRange> {
    const SymbolInfo* found = find(name);
    return found == nullptr ? std::nullopt : std::optional(found->range);
  });
}

const SymbolInfo* ShapeEnv::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : found->second;
}

const SymbolInfo& ShapeEnv::info(const Expr& symbol) const {
  const SymbolInfo* found = find(symbol.name());
  if (found == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the symbol {} is none of this trace", printable(symbol.name())));
  }
  return *found;
}

SymbolInfo& ShapeEnv::mutable_info(const Expr& symbol) { return const_cast<SymbolInfo&>(info(symbol)); }

bool ShapeEnv::has_unbacked(const Expr& expr) const {
  if (expr.is_symbol()) {
    const SymbolInfo* found = find(expr.name());
    return found == nullptr || !found->is_backed();
  }
  return std::ranges::any_of(expr.args(), [this](const Expr& arg) { return has_unbacked(arg); });
}

std::vector<Expr> ShapeEnv::assertions_after(std::string_view symbol) const {
  std::vector<Expr> result;
  if (!symbol.empty()) {
    const SymbolInfo* found = find(symbol);
    if (found == nullptr || found->is_backed()) return result;
    const Number& upper = found->range.upper();
    if (found->range.lower().is_integer())
      result.push_back(symbolic::make_node(Kind::kGe, {found->symbol, Expr(found->range.lower())}));
    if (upper.is_integer() && upper.numerator() != std::numeric_limits<int64_t>::max() - 1)
      result.push_back(symbolic::make_node(Kind::kLe, {found->symbol, Expr(upper)}));
  }
  for (const Assertion& assertion : assertions_) {
    if (assertion.symbol != symbol) continue;
    const Expr& condition = assertion.condition;
    // The range says it already.
    const bool is_bound = !symbol.empty() &&
                          (condition.kind() == Kind::kLe || condition.kind() == Kind::kGe) &&
                          ((condition.arg(0).is_symbol() && condition.arg(1).is_number()) ||
                           (condition.arg(1).is_symbol() && condition.arg(0).is_number()));
    if (!is_bound && std::ranges::find(result, condition) == result.end()) result.push_back(condition);
  }
  return result;
}

void ShapeEnv::forget_answers() {
  answers_.clear();
  simplified_.clear();
}

void ShapeEnv::throw_data_dependent(const Expr& expr) const {
  std::string origins;
  for (const Expr& symbol : free_symbols(expr)) {
    const SymbolInfo* found = find(symbol.name());
    if (found == nullptr || found->is_backed()) continue;
    origins += fmt::format("{}{}{}", origins.empty() ? "" : ", ", symbol.name(),
                           found->where.empty() ? "" : " from " + found->where);
  }
  const std::string text = to_string(expr);
  if (!expr.is_boolean()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the value of {} is needed{}, but it depends on data ({})", text,
                            at_line(where()), origins),
                "Keep it as a size (SymInt), or compute with tensors instead");
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("whether {} holds is asked{}, but it depends on data ({})", text, at_line(where()),
                  origins),
      fmt::format("Say which before this line: check({}) or check({}); check_is_size for a number that "
                  "is used as a size",
                  text, to_string(symbolic::not_(expr))));
}

}  // namespace flambeau::trace
