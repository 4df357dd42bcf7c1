// The order in which sympy prints terms and factors.
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/order.h"

namespace flambeau::symbolic {
namespace {

bool commutes(const Expr& expr) { return expr.facts().is(Fact::kCommutative); }

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

std::vector<uint32_t> order_of_factors(std::span<const Expr> args) {
  std::vector<uint32_t> order(args.size());
  std::iota(order.begin(), order.end(), 0);
  if (!args.empty() && args[0].is_number()) order.erase(order.begin());
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const bool left = commutes(args[a]);
    if (left != commutes(args[b])) return left;
    const int by_key = left ? compare_sort_key(args[a], args[b]) : 0;
    return by_key != 0 ? by_key < 0 : a < b;
  });
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
  std::vector<std::vector<Expr>> fixed(args.size());  // factors that do not commute
  for (size_t i = 0; i < args.size(); ++i) {
    for (const Expr& factor : factors_of(args[i])) {
      const Expr& shown = factor.kind() == Kind::kIdentity ? factor.arg(0) : factor;
      if (shown.is_number()) {
        coefficients[i] *= shown.number().to_double();
        continue;
      }
      if (factor.is_constant()) {
        if (const std::optional<double> value = approximate(factor)) {
          coefficients[i] *= *value;
          continue;
        }
      }
      if (!commutes(factor)) {
        fixed[i].push_back(factor);
        continue;
      }
      const auto [base, exponent] = decompose_power(factor);
      const auto [entry, added] = index_of.try_emplace(base, generators.size());
      if (added) generators.push_back(base);
      exponents[i].emplace_back(entry->second, exponent);
    }
  }
  std::vector<uint32_t> generator_order(generators.size());
  std::iota(generator_order.begin(), generator_order.end(), 0);
  std::sort(generator_order.begin(), generator_order.end(), [&](uint32_t a, uint32_t b) {
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
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (const int by_monomial = compare_monomials(exponents[a], exponents[b])) return by_monomial < 0;
    for (size_t i = 0; i < std::min(fixed[a].size(), fixed[b].size()); ++i)
      if (const int by_factor = compare_sort_key(fixed[a][i], fixed[b][i])) return by_factor < 0;
    if (fixed[a].size() != fixed[b].size()) return fixed[a].size() < fixed[b].size();
    return coefficients[a] != coefficients[b] ? coefficients[a] < coefficients[b] : a < b;
  });
  return order;
}

}  // namespace flambeau::symbolic
