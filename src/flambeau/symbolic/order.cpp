#include "flambeau/symbolic/order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>

#include "flambeau/symbolic/algebra.h"
#include "flambeau/symbolic/approximate.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {
namespace {

int three_way(auto a, auto b) { return (a > b) - (a < b); }

// The class names sympy orders by hand; all others come later, by name.
int class_position(std::string_view name) {
  constexpr std::array kOrdered = {
      "Zero", "One", "Half", "Infinity", "NaN", "NegativeOne", "NegativeInfinity", "Integer", "Rational", "Float",
      "Symbol", "Pow", "Mul", "Add", "Abs", "factorial", "binomial", "Function", "Equality", "Unequality",
      "StrictGreaterThan", "StrictLessThan", "GreaterThan", "LessThan"};
  const auto found = std::find(kOrdered.begin(), kOrdered.end(), name);
  return static_cast<int>(found - kOrdered.begin());
}

std::string_view class_name(const Expr& expr) {
  if (!expr.is_number()) return expr.name();
  const Number& number = expr.number();
  switch (number.kind()) {
    case NumberKind::kInteger:
      return number.is(0) ? "Zero" : number.is(1) ? "One" : number.is(-1) ? "NegativeOne" : "Integer";
    case NumberKind::kRational: return number.numerator() == 1 && number.denominator() == 2 ? "Half" : "Rational";
    case NumberKind::kFloat: return "Float";
    case NumberKind::kBoolean: return "Boolean";
    case NumberKind::kInfinity: return "Infinity";
    case NumberKind::kNegativeInfinity: return "NegativeInfinity";
    case NumberKind::kComplexInfinity: return "ComplexInfinity";
    case NumberKind::kNaN: return "NaN";
    case NumberKind::kIntInfinity: return "IntInfinity";
    case NumberKind::kNegativeIntInfinity: return "NegativeIntInfinity";
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

// base and integer exponent of a factor; roots count as generators of their own.
std::pair<Expr, int64_t> decompose_power(const Expr& factor) {
  if (factor.kind() != Kind::kPow) return {factor, 1};
  const Expr& base = factor.arg(0);
  const Expr& exponent = factor.arg(1);
  if (exponent.is_number()) {
    const Number& number = exponent.number();
    if (number.is_integer()) return {base, number.numerator()};
    if (number.is_rational())
      return {pow(base, Number::rational(1, number.denominator())), number.numerator()};
    return {factor, 1};
  }
  const Coefficient split = split_coefficient(exponent);
  if (!split.number.is_rational() || split.number.is(1)) return {factor, 1};
  if (split.number.is(-1)) return {pow(base, split.rest), -1};
  const Expr tail = keep_coefficient(Number::rational(1, split.number.denominator()), split.rest);
  return {pow(base, tail), split.number.numerator()};
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
  if (x.is_number != y.is_number) return x.is_number ? -1 : 1;  // a number has no arguments, a power of one has
  if (!x.is_number) {
    if (x.is_atom && y.is_atom) {
      const int order = x.text.empty() && y.text.empty() ? base_text(a).compare(base_text(b)) : x.text.compare(y.text);
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
  std::stable_sort(args.begin(), args.end(), [](const Expr& a, const Expr& b) {
    if (a.node().weight != b.node().weight) return a.node().weight < b.node().weight;
    const int order = compare_sort_key(a, b);
    return (order != 0 ? order : compare_structure(a, b)) < 0;
  });
  args.erase(std::unique(args.begin(), args.end()), args.end());
}

std::vector<uint32_t> order_of_factors(std::span<const Expr> args) {
  std::vector<uint32_t> order(args.size());
  std::iota(order.begin(), order.end(), 0);
  if (!args.empty() && args[0].is_number()) order.erase(order.begin());
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return compare_sort_key(args[a], args[b]) < 0; });
  return order;
}

std::vector<uint32_t> order_of_terms(std::span<const Expr> args) {
  std::vector<uint32_t> order(args.size());
  std::iota(order.begin(), order.end(), 0);
  if (args.size() == 2) {
    // 1 - x is printed so, and not -x + 1.
    const size_t number = args[0].is_number() ? 0 : 1;
    const Expr& other = args[1 - number];
    if (args[number].is_number() && args[number].number().sign() > 0 && other.kind() == Kind::kMul &&
        other.args().size() == 2 && other.arg(0).is_number() && other.arg(0).number().sign() < 0) {
      if (number == 1) std::swap(order[0], order[1]);
      return order;
    }
  }
  // Each term is a monomial over generators; terms come in lexicographic order of their exponents.
  std::vector<Expr> generators;
  std::unordered_map<Expr, size_t, ExprHash> index_of;
  std::vector<std::vector<std::pair<size_t, int64_t>>> exponents(args.size());
  std::vector<double> coefficients(args.size(), 1);
  for (size_t i = 0; i < args.size(); ++i) {
    for (const Expr& factor : factors_of(args[i])) {
      if (factor.is_constant()) {
        if (const std::optional<double> value = approximate(factor)) {
          coefficients[i] *= *value;
          continue;
        }
      }
      const auto [base, exponent] = decompose_power(factor);
      const auto [entry, added] = index_of.try_emplace(base, generators.size());
      if (added) generators.push_back(base);
      exponents[i].emplace_back(entry->second, exponent);
    }
  }
  std::vector<uint32_t> generator_order(generators.size());
  std::iota(generator_order.begin(), generator_order.end(), 0);
  std::stable_sort(generator_order.begin(), generator_order.end(), [&](uint32_t a, uint32_t b) {
    const int by_key = compare_sort_key(generators[a], generators[b]);
    return (by_key != 0 ? by_key : compare_structure(generators[a], generators[b])) < 0;
  });
  std::vector<size_t> rank(generators.size());
  for (size_t i = 0; i < generator_order.size(); ++i) rank[generator_order[i]] = i;
  for (auto& monomial : exponents) {
    for (auto& [generator, exponent] : monomial) generator = rank[generator];
    std::sort(monomial.begin(), monomial.end());
  }
  // Sparse comparison of exponent vectors, larger exponents first.
  const auto compare_monomials = [](const auto& a, const auto& b) {
    size_t i = 0;
    size_t j = 0;
    while (i < a.size() || j < b.size()) {
      const size_t x = i < a.size() ? a[i].first : SIZE_MAX;
      const size_t y = j < b.size() ? b[j].first : SIZE_MAX;
      const int64_t left = x <= y ? a[i].second : 0;
      const int64_t right = y <= x ? b[j].second : 0;
      if (left != right) return left > right ? -1 : 1;
      if (x <= y) ++i;
      if (y <= x) ++j;
    }
    return 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int by_monomial = compare_monomials(exponents[a], exponents[b]);
    return by_monomial != 0 ? by_monomial < 0 : coefficients[a] < coefficients[b];
  });
  return order;
}

}  // namespace flambeau::symbolic
