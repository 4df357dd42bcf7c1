#include "flambeau/symbolic/order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {
namespace {

int three_way(auto a, auto b) { return (a > b) - (a < b); }

// The class names sympy orders by hand; all others come later, by name.
int class_position(std::string_view name) {
  constexpr std::array kOrdered = {"Zero",
                                   "One",
                                   "Half",
                                   "Infinity",
                                   "NaN",
                                   "NegativeOne",
                                   "NegativeInfinity",
                                   "Integer",
                                   "Rational",
                                   "Float",
                                   "Symbol",
                                   "Pow",
                                   "Mul",
                                   "Add",
                                   "Abs",
                                   "factorial",
                                   "binomial",
                                   "Function",
                                   "Equality",
                                   "Unequality",
                                   "StrictGreaterThan",
                                   "StrictLessThan",
                                   "GreaterThan",
                                   "LessThan"};
  const auto found = std::find(kOrdered.begin(), kOrdered.end(), name);
  return static_cast<int>(found - kOrdered.begin());
}

std::string_view class_name(const Expr& expr) {
  if (!expr.is_number()) return expr.name();
  const Number& number = expr.number();
  switch (number.kind()) {
    case NumberKind::kInteger:
      return number.is(0) ? "Zero" : number.is(1) ? "One" : number.is(-1) ? "NegativeOne" : "Integer";
    case NumberKind::kRational:
      return number.numerator() == 1 && number.denominator() == 2 ? "Half" : "Rational";
    case NumberKind::kFloat:
      return "Float";
    case NumberKind::kBoolean:
      return "Boolean";
    case NumberKind::kInfinity:
      return "Infinity";
    case NumberKind::kNegativeInfinity:
      return "NegativeInfinity";
    case NumberKind::kComplexInfinity:
      return "ComplexInfinity";
    case NumberKind::kNaN:
      return "NaN";
    case NumberKind::kIntInfinity:
      return "IntInfinity";
    case NumberKind::kNegativeIntInfinity:
      return "NegativeIntInfinity";
  }
  return "";
}

int compare_floats(double a, double b) {
  // As mpmath's tuples of sign, odd mantissa, exponent and bit count.
  const auto parts = [](double value) {
    int exponent = 0;
    auto mantissa = static_cast<int64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
    exponent -= 53;
    while (mantissa != 0 && mantissa % 2 == 0) {
      mantissa /= 2;
      ++exponent;
    }
    return std::array<int64_t, 3>{value < 0, mantissa, mantissa == 0 ? 0 : exponent};
  };
  return three_way(parts(a), parts(b));
}

int compare_symbols(const Expr& a, const Expr& b) {
  const Facts& x = a.facts();
  const Facts& y = b.facts();
  if (const int order = three_way(x.known_count(), y.known_count())) return order;
  if (const int order = a.name().compare(b.name())) return order < 0 ? -1 : 1;
  // Lists of (name, value), one after the other.
  for (int i = 0; i < kFactCount; ++i) {
    const auto fact = static_cast<Fact>(i);
    if (x.get(fact) == y.get(fact)) continue;
    if (!x.is_known(fact)) return 1;  // the other one has an alphabetically smaller entry here
    if (!y.is_known(fact)) return -1;
    return x.is(fact) ? 1 : -1;
  }
  return 0;
}

// The parts of sympy's sort_key.
struct SortKey {
  int rank = 0;
  int order = 0;
  std::string_view class_name;
  std::vector<const Expr*> args;
  std::string_view text;  // of an atom
  bool is_atom = false;
  bool is_number = false;
  Expr exponent = Expr(1);
  Number coefficient = Number(1);
};

SortKey sort_key(const Expr& whole) {
  SortKey key;
  if (whole.is_number()) {
    key.rank = 1;
    key.class_name = "Number";
    key.is_number = true;
    key.coefficient = whole.number();
    return key;
  }
  const Expr* expr = &whole;
  if (whole.kind() == Kind::kMul && whole.arg(0).is_number()) {
    key.coefficient = whole.arg(0).number();
    if (whole.args().size() == 2) expr = &whole.arg(1);
  }
  if (expr->kind() == Kind::kPow) {
    key.exponent = expr->arg(1);
    expr = &expr->arg(0);
  }
  const KindInfo& info = kind_info(expr->kind());
  key.rank = info.class_rank;
  key.order = info.class_order;
  key.class_name = expr->is_number() ? "Number" : expr->name();
  switch (expr->kind()) {
    case Kind::kNumber:  // the base of a power: its text
    case Kind::kTrue:
    case Kind::kFalse:
      key.is_atom = true;
      break;
    case Kind::kSymbol:
      key.class_name = "Symbol";
      key.is_atom = true;
      key.text = expr->name();
      break;
    case Kind::kAdd:
      for (const uint32_t index : expr->node().print_order) key.args.push_back(&expr->arg(index));
      break;
    case Kind::kMul:
      // The number itself counts when the product is the base of a power.
      if (expr != &whole && expr->arg(0).is_number()) key.args.push_back(&expr->arg(0));
      for (const uint32_t index : expr->node().print_order) key.args.push_back(&expr->arg(index));
      break;
    default:
      for (const Expr& arg : expr->args()) key.args.push_back(&arg);
      break;
  }
  return key;
}

std::string base_text(const Expr& expr) {
  const Expr& base = expr.kind() == Kind::kMul && expr.args().size() == 2 ? expr.arg(1) : expr;
  if (base.kind() == Kind::kPow && base.arg(0).is_number()) return to_text(base.arg(0).number());
  return {};
}

}  // namespace

int compare_structure(const Expr& a, const Expr& b) {
  if (&a.node() == &b.node()) return 0;
  const std::string_view left = class_name(a);
  const std::string_view right = class_name(b);
  const bool same_class = left == right || (a.is_symbol() && b.is_symbol());
  if (!same_class) {
    const int x = class_position(a.is_symbol() ? "Symbol" : left);
    const int y = class_position(b.is_symbol() ? "Symbol" : right);
    if (x != y) return x < y ? -1 : 1;
    return left < right ? -1 : 1;
  }
  if (a.is_symbol() && b.is_symbol()) return compare_symbols(a, b);
  if (a.is_number() && b.is_number()) {
    if (a.number().is_float()) return compare_floats(a.number().to_double(), b.number().to_double());
    if (const int order = three_way(a.number().numerator(), b.number().numerator())) return order;
    return three_way(a.number().denominator(), b.number().denominator());
  }
  if (const int order = three_way(a.args().size(), b.args().size())) return order;
  for (size_t i = 0; i < a.args().size(); ++i)
    if (const int order = compare_structure(a.arg(i), b.arg(i))) return order;
  return three_way(a.kind(), b.kind());
}

int compare_sort_key(const Expr& a, const Expr& b) {
  if (&a.node() == &b.node()) return 0;
  const SortKey x = sort_key(a);
  const SortKey y = sort_key(b);
  if (const int order = three_way(x.rank, y.rank)) return order;
  if (const int order = three_way(x.order, y.order)) return order;
  if (const int order = x.class_name.compare(y.class_name)) return order < 0 ? -1 : 1;
  if (x.is_number != y.is_number)
    return x.is_number ? -1 : 1;  // a number has no arguments, a power of one has
  if (!x.is_number) {
    if (x.is_atom && y.is_atom) {
      const int order =
          x.text.empty() && y.text.empty() ? base_text(a).compare(base_text(b)) : x.text.compare(y.text);
      if (order != 0) return order < 0 ? -1 : 1;
    } else {
      if (const int order = three_way(x.args.size(), y.args.size())) return order;
      for (size_t i = 0; i < x.args.size(); ++i)
        if (const int order = compare_sort_key(*x.args[i], *y.args[i])) return order;
    }
    if (const int order = compare_sort_key(x.exponent, y.exponent)) return order;
  }
  return compare(x.coefficient, y.coefficient);
}

void sort_and_unique(std::vector<Expr>& args) {
  std::sort(args.begin(), args.end(), [](const Expr& a, const Expr& b) {
    if (a.node().weight != b.node().weight) return a.node().weight < b.node().weight;
    const int order = compare_sort_key(a, b);
    return (order != 0 ? order : compare_structure(a, b)) < 0;
  });
  args.erase(std::unique(args.begin(), args.end()), args.end());
}

}  // namespace flambeau::symbolic
