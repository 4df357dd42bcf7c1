// sympy's ReprPrinter.
#include <fmt/format.h>

#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/text/float_text.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::symbolic {
namespace {

// Python's repr of a string.
std::string quoted(std::string_view text) {
  const char quote =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') result += '\\';
    result += c;
  }
  return result + quote;
}

std::string print_number(const Number& number) {
  switch (number.kind()) {
    case NumberKind::kInteger:
      return fmt::format("Integer({})", number.numerator());
    case NumberKind::kRational:
      return fmt::format("Rational({}, {})", number.numerator(), number.denominator());
    case NumberKind::kFloat:
      return fmt::format("Float('{}', precision=53)", float_text(number.to_double(), 17, true));
    default:
      return to_text(number);
  }
}

std::string print_symbol(const Expr& expr) {
  std::string text = "Symbol(" + quoted(expr.name());
  for (const auto& [fact, value] : expr.assumptions())
    text += fmt::format(", {}={}", fact_name(fact), value ? "True" : "False");
  return text + ")";
}

void print(const Expr& expr, std::string& text) {
  switch (expr.kind()) {
    case Kind::kNumber:
      text += print_number(expr.number());
      return;
    case Kind::kTrue:
      text += "true";
      return;
    case Kind::kFalse:
      text += "false";
      return;
    case Kind::kSymbol:
      text += print_symbol(expr);
      return;
    case Kind::kUndefined:
      text += "Function(" + quoted(expr.name()) + ")(";
      break;
    default:
      text += std::string(expr.name()) + "(";
      break;
  }
  bool first = true;
  const auto print_next = [&](const Expr& arg) {
    if (!first) text += ", ";
    first = false;
    print(arg, text);
  };
  if (expr.kind() == Kind::kMul && expr.arg(0).is_number()) {
    const Number& number = expr.arg(0).number();
    const bool is_split = number.sign() < 0 && !number.is(-1);
    if (is_split) print_next(Expr(-1));
    print_next(is_split ? Expr(negate(number)) : expr.arg(0));
  }
  if (expr.kind() == Kind::kAdd || expr.kind() == Kind::kMul) {
    for (const uint32_t index : expr.node().print_order) print_next(expr.arg(index));
  } else {
    for (const Expr& arg : expr.args()) print_next(arg);
  }
  text += ")";
}

}  // namespace

std::string to_srepr(const Expr& expr) {
  std::string text;
  print(expr, text);
  return text;
}

}  // namespace flambeau::symbolic
