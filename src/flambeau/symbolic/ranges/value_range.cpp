#include "flambeau/symbolic/ranges/value_range.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/forms/approximate.h"

namespace flambeau::symbolic {
namespace {

bool is_int_end(const Number& number) {
  return number.is_integer() || number.kind() == NumberKind::kIntInfinity ||
         number.kind() == NumberKind::kNegativeIntInfinity;
}

}  // namespace

ValueRange::ValueRange(const Number& lower, const Number& upper) : lower_(lower), upper_(upper) {
  if (lower.is_boolean() != upper.is_boolean())
    throw Error(ErrorCode::kInvalidArgument, fmt::format("a range from {} to {} mixes conditions and numbers",
                                                         to_text(lower), to_text(upper)));
  if (lower.is_nan() || upper.is_nan() || lower.kind() == NumberKind::kComplexInfinity ||
      upper.kind() == NumberKind::kComplexInfinity || compare(lower, upper) > 0)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a range from {} to {} holds no number", to_text(lower), to_text(upper)));
  kind_ = lower.is_boolean()                       ? Type::kBool
          : is_int_end(lower) && is_int_end(upper) ? Type::kInt
                                                   : Type::kFloat;
}

ValueRange ValueRange::unknown() {
  return {Number::of_kind(NumberKind::kNegativeInfinity), Number::of_kind(NumberKind::kInfinity)};
}
ValueRange ValueRange::unknown_int() {
  return {Number::of_kind(NumberKind::kNegativeIntInfinity), Number::of_kind(NumberKind::kIntInfinity)};
}
ValueRange ValueRange::unknown_bool() { return {Number::boolean(false), Number::boolean(true)}; }

bool ValueRange::contains(const Number& value) const {
  return compare(lower_, value) <= 0 && compare(value, upper_) <= 0;
}

bool ValueRange::contains(const ValueRange& other) const {
  return compare(lower_, other.lower_) <= 0 && compare(other.upper_, upper_) <= 0;
}

ValueRange ValueRange::intersect(const ValueRange& other) const {
  // Unknown floats are often just unknown: the other range keeps its type.
  if (other == unknown()) return *this;
  if (*this == unknown()) return other;
  return {compare(lower_, other.lower_) >= 0 ? lower_ : other.lower_,
          compare(upper_, other.upper_) <= 0 ? upper_ : other.upper_};
}

ValueRange ValueRange::join(const ValueRange& other) const {
  if (*this == unknown() || other == unknown() || is_bool() != other.is_bool()) return unknown();
  return {compare(lower_, other.lower_) <= 0 ? lower_ : other.lower_,
          compare(upper_, other.upper_) >= 0 ? upper_ : other.upper_};
}

std::string ValueRange::to_string() const {
  return fmt::format("VR[{}, {}]", to_text(lower_), to_text(upper_));
}

}  // namespace flambeau::symbolic
