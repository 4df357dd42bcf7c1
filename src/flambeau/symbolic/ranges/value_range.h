// Ranges of values, and the range of an expression whose symbols have ranges: never narrower than the truth.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// All numbers from lower to upper, both included. A range of integers ends at int_oo, one of floats at oo; a
// range of booleans is one of [false, false], [true, true], [false, true].
class ValueRange {
 public:
  ValueRange() : ValueRange(unknown()) {}
  // Throws Error(kInvalidArgument) when lower > upper or the kinds of the ends do not go together.
  ValueRange(const Number& lower, const Number& upper);

  static ValueRange unknown();      // [-oo, oo], of floats
  static ValueRange unknown_int();  // [-int_oo, int_oo]
  static ValueRange unknown_bool();
  static ValueRange single(const Number& value) { return ValueRange(value, value); }

  const Number& lower() const { return lower_; }
  const Number& upper() const { return upper_; }
  bool is_bool() const { return kind_ == Type::kBool; }
  bool is_int() const { return kind_ == Type::kInt; }
  bool is_float() const { return kind_ == Type::kFloat; }
  bool is_single() const { return lower_ == upper_; }
  bool contains(const Number& value) const;
  bool contains(const ValueRange& other) const;

  // The common part; Error(kInvalidArgument) when there is none.
  ValueRange intersect(const ValueRange& other) const;
  // The smallest range that holds both.
  ValueRange join(const ValueRange& other) const;

  // "VR[0, int_oo]", as PyTorch prints it.
  std::string to_string() const;

  bool operator==(const ValueRange& other) const = default;

 private:
  enum class Type : uint8_t { kBool, kInt, kFloat };

  Number lower_;
  Number upper_;
  Type kind_ = Type::kInt;
};

// The range of a symbol, or nothing: then its assumptions decide (a positive integer starts at 1).
using RangeLookup = std::function<std::optional<ValueRange>(std::string_view name)>;

// A range that holds every value the expression can have. Values that cannot be computed (a division by zero)
// do not count.
ValueRange bounds(const Expr& expr, const RangeLookup& ranges = {});

}  // namespace flambeau::symbolic
