#include "flambeau/symbolic/forms/approximate.h"

#include <cmath>

#include "flambeau/symbolic/text/float_text.h"

namespace flambeau::symbolic {

std::optional<double> approximate(const Expr& expr) {
  if (!expr.is_constant()) return std::nullopt;
  if (expr.is_number()) {
    const double value = expr.number().to_double();
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }
  std::optional<double> result;
  switch (expr.kind()) {
    case Kind::kAdd:
    case Kind::kMul: {
      double total = expr.kind() == Kind::kAdd ? 0 : 1;
      for (const Expr& arg : expr.args()) {
        const std::optional<double> part = approximate(arg);
        if (!part) return std::nullopt;
        total = expr.kind() == Kind::kAdd ? total + *part : total * *part;
      }
      result = total;
      break;
    }
    case Kind::kPow: {
      const std::optional<double> base = approximate(expr.arg(0));
      const std::optional<double> exponent = approximate(expr.arg(1));
      if (!base || !exponent) return std::nullopt;
      result = std::pow(*base, *exponent);
      break;
    }
    default:
      return std::nullopt;
  }
  return std::isfinite(*result) ? result : std::nullopt;
}

std::string to_text(const Number& number) {
  switch (number.kind()) {
    case NumberKind::kInteger:
      return std::to_string(number.numerator());
    case NumberKind::kRational:
      return std::to_string(number.numerator()) + "/" + std::to_string(number.denominator());
    case NumberKind::kFloat:
      return float_text(number.to_double(), 15, true);
    case NumberKind::kBoolean:
      return number.truth() ? "True" : "False";
    case NumberKind::kInfinity:
      return "oo";
    case NumberKind::kNegativeInfinity:
      return "-oo";
    case NumberKind::kComplexInfinity:
      return "zoo";
    case NumberKind::kNaN:
      return "nan";
    case NumberKind::kIntInfinity:
      return "int_oo";
    case NumberKind::kNegativeIntInfinity:
      return "-int_oo";
  }
  return "";
}

}  // namespace flambeau::symbolic
