// sympy's StrPrinter.
#include <algorithm>

#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/order.h"
#include "flambeau/symbolic/text/float_text.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::symbolic {
namespace {

constexpr int kAddPrecedence = 40;
constexpr int kMulPrecedence = 50;
constexpr int kAtomPrecedence = 1000;

int precedence(const Expr& expr) {
  if (expr.is_number()) {
    const Number& number = expr.number();
    if (number.kind() == NumberKind::kRational) return number.sign() < 0 ? kAddPrecedence : kMulPrecedence;
    const bool is_signed =
        number.is_integer() || number.is_float() || number.kind() == NumberKind::kNegativeInfinity;
    return is_signed && number.sign() < 0 ? kAddPrecedence : kAtomPrecedence;
  }
  if (expr.kind() == Kind::kMul) {
    for (const Expr& arg : expr.args()) {
      const KindInfo& info = kind_info(arg.kind());
      if (info.class_rank == 4 && info.precedence < kMulPrecedence) return kMulPrecedence;
    }
    return could_extract_minus_sign(expr) ? kAddPrecedence : kMulPrecedence;
  }
  return kind_info(expr.kind()).precedence;
}

std::string print(const Expr& expr);

std::string parenthesize(const Expr& expr, int level) {
  std::string text = print(expr);
  return precedence(expr) <= level ? "(" + text + ")" : text;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string print_call(std::string_view name, std::span<const Expr> args) {
  std::vector<std::string> parts;
  for (const Expr& arg : args) parts.push_back(print(arg));
  return std::string(name) + "(" + join(parts, ", ") + ")";
}

std::string print_sum(const Expr& expr) {
  std::string text;
  bool first = true;
  for (const uint32_t index : expr.node().print_order) {
    const Expr& term = expr.arg(index);
    std::string part = print(term);
    const bool is_negative = part.starts_with('-') && term.kind() != Kind::kAdd;
    if (is_negative) part.erase(0, 1);
    if (precedence(term) < kAddPrecedence || term.kind() == Kind::kAdd) part.insert(0, 1, '(').push_back(')');
    if (first) {
      text = is_negative ? "-" : "";
    } else {
      text += is_negative ? " - " : " + ";
    }
    text += part;
    first = false;
  }
  return text;
}

std::string print_product(const Expr& expr) {
  const int level = precedence(expr);
  Number coefficient(1);
  if (expr.arg(0).is_number()) coefficient = expr.arg(0).number();
  const std::string sign = coefficient.sign() < 0 ? "-" : "";
  if (coefficient.sign() < 0) coefficient = negate(coefficient);
  std::vector<Expr> above;
  std::vector<Expr> below;
  if (coefficient.is_rational()) {
    if (coefficient.numerator() != 1) above.emplace_back(coefficient.numerator());
    if (coefficient.denominator() != 1) below.emplace_back(coefficient.denominator());
  } else {
    above.emplace_back(coefficient);
  }
  for (const uint32_t index : expr.node().print_order) {
    const Expr& factor = expr.arg(index);
    if (factor.kind() == Kind::kPow && split_coefficient(factor.arg(1)).number.sign() < 0) {
      const Power power = split_power(factor);
      const Coefficient exponent = split_coefficient(power.exponent);
      const Expr turned = keep_coefficient(negate(exponent.number), exponent.rest);
      below.push_back(turned.is(1) ? power.base : make_node(Kind::kPow, {power.base, turned}));
    } else {
      above.push_back(factor);
    }
  }
  if (above.empty()) above.emplace_back(1);
  const auto texts = [&](const std::vector<Expr>& factors) {
    std::vector<std::string> parts;
    for (const Expr& factor : factors) parts.push_back(parenthesize(factor, level));
    return join(parts, "*");
  };
  std::string text = sign + texts(above);
  if (below.size() == 1) text += "/" + texts(below);
  if (below.size() > 1) text += "/(" + texts(below) + ")";
  return text;
}

std::string print_power(const Expr& expr) {
  const Expr& base = expr.arg(0);
  const Expr& exponent = expr.arg(1);
  if (exponent.is_number()) {
    if (exponent.number() == Number::rational(1, 2)) return "sqrt(" + print(base) + ")";
    if (exponent.number() == Number::rational(-1, 2)) return "1/sqrt(" + print(base) + ")";
    if (exponent.is(-1)) return "1/" + parenthesize(base, 60);
  }
  return parenthesize(base, 60) + "**" + parenthesize(exponent, 60);
}

std::string print_relation(const Expr& expr) {
  const char* sign = "";
  switch (expr.kind()) {
    case Kind::kEq:
      return print_call("Eq", expr.args());
    case Kind::kNe:
      return print_call("Ne", expr.args());
    case Kind::kLt:
      sign = " < ";
      break;
    case Kind::kLe:
      sign = " <= ";
      break;
    case Kind::kGt:
      sign = " > ";
      break;
    default:
      sign = " >= ";
      break;
  }
  const int level = kind_info(expr.kind()).precedence;
  return parenthesize(expr.arg(0), level) + sign + parenthesize(expr.arg(1), level);
}

std::string print_joined(const Expr& expr, std::string_view separator, int level) {
  std::vector<std::string> parts;
  for (const Expr& arg : expr.args()) parts.push_back(parenthesize(arg, level));
  return join(parts, separator);
}

std::string print(const Expr& expr) {
  switch (expr.kind()) {
    case Kind::kNumber:
      return to_text(expr.number());
    case Kind::kTrue:
      return "True";
    case Kind::kFalse:
      return "False";
    case Kind::kSymbol:
      return std::string(expr.name());
    case Kind::kAdd:
      return print_sum(expr);
    case Kind::kMul:
      return print_product(expr);
    case Kind::kPow:
      return print_power(expr);
    case Kind::kEq:
    case Kind::kNe:
    case Kind::kLt:
    case Kind::kLe:
    case Kind::kGt:
    case Kind::kGe:
      return print_relation(expr);
    case Kind::kAnd:
      return print_joined(expr, " & ", 38);
    case Kind::kOr:
      return print_joined(expr, " | ", 36);
    case Kind::kNot:
      return "~" + parenthesize(expr.arg(0), 100);
    case Kind::kMax:
    case Kind::kMin: {
      std::vector<Expr> args(expr.args().begin(), expr.args().end());
      std::sort(args.begin(), args.end(), [](const Expr& a, const Expr& b) {
        const int order = compare_sort_key(a, b);
        return (order != 0 ? order : compare_structure(a, b)) < 0;
      });
      return print_call(expr.name(), args);
    }
    case Kind::kPair:
      return print_call("", expr.args());
    case Kind::kFloorDiv:
    case Kind::kCleanDiv:
      return "(" + parenthesize(expr.arg(0), kAtomPrecedence - 1) + "//" +
             parenthesize(expr.arg(1), kAtomPrecedence - 1) + ")";
    case Kind::kIdentity:
      return "(" + print(expr.arg(0)) + ")";
    default:
      return print_call(expr.name(), expr.args());
  }
}

}  // namespace

std::string to_string(const Expr& expr) {
  if (expr.is_number() && expr.number().is_float()) return float_text(expr.number().to_double(), 15, false);
  return print(expr);
}

}  // namespace flambeau::symbolic
