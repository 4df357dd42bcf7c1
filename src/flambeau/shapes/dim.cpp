#include "flambeau/shapes/dim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/expr.h"
#include "flambeau/symbolic/ranges/value_range.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::Number;
using symbolic::ValueRange;

namespace {

bool is_identifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::ranges::all_of(name, [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0;
  });
}

}  // namespace

DimHint DimHint::operator()(Bounds given) const {
  if (given.min.value_or(0) < 0 || given.max.value_or(0) < 0 ||
      (given.min && given.max && *given.min > *given.max)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the bounds of a dimension are from {} to {}", given.min.value_or(0),
                            given.max ? std::to_string(*given.max) : "any size"),
                "Give bounds that are not negative, the smaller one first");
  }
  return {kind, given};
}

Dim::Dim(std::string name, Bounds bounds)
    : kind_(DimKind::kNamed), name_(std::move(name)), root_name_(name_), bounds_(bounds) {
  if (!is_identifier(name_)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a dimension is named '{}', which is no identifier", printable(name_)),
                "Use letters, digits and underscores");
  }
  if (bounds_.max && *bounds_.max <= bounds_.min.value_or(0)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the dimension {} has no two sizes between its minimum {} and its maximum {}",
                            name_, bounds_.min.value_or(0), *bounds_.max),
                "Give a maximum above the minimum, or the size itself where there is only one");
  }
}

Dim::Dim(const DimHint& hint) : kind_(hint.kind), bounds_(hint.bounds) {}
Dim::Dim(int64_t literal)
    : kind_(DimKind::kLiteral), name_(std::to_string(literal)), bounds_{literal, literal} {}

Dim Dim::derive(int64_t factor, int64_t offset) const {
  if (kind_ != DimKind::kNamed && kind_ != DimKind::kDerived) {
    throw Error(ErrorCode::kInvalidArgument, "arithmetic with a dimension that has no name",
                "Name it: Dim(\"batch\")");
  }
  if (factor <= 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the dimension {} is multiplied by {}", name_, factor),
                "Multiply by a positive integer: only what grows with the dimension is supported");
  }
  Dim result = *this;
  result.kind_ = DimKind::kDerived;
  result.factor_ = checked_mul(factor_, factor, "a dimension");
  result.offset_ = checked_add(checked_mul(offset_, factor, "a dimension"), offset, "a dimension");
  result.name_ = symbolic::to_string(result.apply(symbolic::symbol(root_name_, {})));
  return result;
}

Dim Dim::root() const { return kind_ == DimKind::kDerived ? Dim(root_name_, bounds_) : *this; }

Expr Dim::apply(const Expr& root) const {
  return symbolic::add(symbolic::mul(Expr(factor_), root), Expr(offset_));
}

std::optional<int64_t> Dim::solve_root(int64_t value) const {
  if ((value - offset_) % factor_ != 0) return std::nullopt;
  return (value - offset_) / factor_;
}

ValueRange Dim::range() const {
  const int64_t least =
      checked_add(checked_mul(bounds_.min.value_or(0), factor_, "a dimension"), offset_, "a dimension");
  if (kind_ == DimKind::kDerived && least < 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is {} for the smallest {}, {}", name_, least, root_name_, bounds_.min.value_or(0)),
        fmt::format("Give {} a minimum that keeps {} from being negative", root_name_, name_));
  }
  return {Number(least), bounds_.max ? Number(checked_add(checked_mul(*bounds_.max, factor_, "a dimension"),
                                                          offset_, "a dimension"))
                                     : Number::int_infinity()};
}

std::string dim_text(const std::string& name, std::optional<int64_t> min, std::optional<int64_t> max) {
  std::string text = fmt::format("Dim('{}'", name);
  if (min) text += fmt::format(", min={}", *min);
  if (max) text += fmt::format(", max={}", *max);
  return text + ")";
}

std::string Dim::to_string() const {
  switch (kind_) {
    case DimKind::kNone:
      return "None";
    case DimKind::kNamed:
      return dim_text(name_, bounds_.min, bounds_.max);
    case DimKind::kDerived:
    case DimKind::kLiteral:
      return name_;
    default:
      break;
  }
  std::string text = kind_ == DimKind::kAuto      ? "Dim.AUTO"
                     : kind_ == DimKind::kDynamic ? "Dim.DYNAMIC"
                                                  : "Dim.STATIC";
  if (!bounds_.min && !bounds_.max) return text;
  text += '(';
  if (bounds_.min) text += fmt::format("min={}", *bounds_.min);
  if (bounds_.max) text += fmt::format("{}max={}", bounds_.min ? ", " : "", *bounds_.max);
  return text + ")";
}

}  // namespace flambeau::trace
