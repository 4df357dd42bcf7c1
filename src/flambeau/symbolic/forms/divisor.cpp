#include "flambeau/symbolic/forms/divisor.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {
namespace {

// Sums longer than this are not divided by each other.
constexpr size_t kMaxTerms = 20;
constexpr size_t kMaxDivisorWork = 10'000'000;

int64_t integer_coefficient(const Expr& term) {
  int64_t product = 1;
  for (const Expr& factor : factors_of(term))
    if (factor.is_integer()) product = greatest_common_divisor(factor.integer(), 0);
  return product;
}

int64_t integer_factor(const Expr& expr) {
  int64_t divisor = 0;
  for (const Expr& term : terms_of(expr))
    divisor = greatest_common_divisor(divisor, integer_coefficient(term));
  return divisor;
}

bool is_integral(const Expr& expr) {
  for (const Expr& term : terms_of(expr))
    for (const Expr& factor : factors_of(term))
      if (factor.is_number() && !factor.is_integer()) return false;
  return true;
}

int64_t exponent_in(const Expr& term, const Expr& base) {
  for (const Expr& factor : factors_of(term)) {
    const Power power = split_power(factor);
    if (power.base == base && power.exponent.is_integer()) return power.exponent.integer();
  }
  return 0;
}

// The number c with p == c*q, if there is one.
std::optional<Number> constant_ratio(const Expr& p, const Expr& q) {
  const std::span<const Expr> left = terms_of(p);
  const std::span<const Expr> right = terms_of(q);
  if (left.size() != right.size()) return std::nullopt;
  const Coefficient a = split_coefficient(left[0]);
  for (const Expr& term : right) {
    const Coefficient b = split_coefficient(term);
    if (!(a.rest == b.rest) || !a.number.is_rational() || !b.number.is_rational()) continue;
    const Number ratio = multiply(a.number, power(b.number, -1));
    if (mul(Expr(ratio), q) == p) return ratio;
  }
  return std::nullopt;
}

}  // namespace

Expr simple_common_divisor(const Expr& p, const Expr& q) {
  const int64_t divisor = greatest_common_divisor(integer_factor(p), integer_factor(q));
  if (divisor == 0) return Expr(1);
  Expr result(divisor);
  const Number inverse = Number::rational(1, divisor);
  const Expr rest_p = mul(Expr(inverse), p);
  const Expr rest_q = mul(Expr(inverse), q);
  if (factors_of(rest_q).size() * rest_p.node().size > kMaxDivisorWork) return result;
  for (const Expr& factor : factors_of(rest_q)) {
    bool everywhere = true;
    for (const Expr& term : terms_of(rest_p)) {
      const std::span<const Expr> split = factors_of(term);
      everywhere = everywhere && std::find(split.begin(), split.end(), factor) != split.end();
    }
    if (everywhere) result = mul(result, factor);
  }
  return result;
}

Expr common_divisor(const Expr& p, const Expr& q) {
  if (terms_of(p).size() > kMaxTerms || terms_of(q).size() > kMaxTerms) return simple_common_divisor(p, q);
  if (!is_integral(p) || !is_integral(q)) return Expr(1);
  const int64_t divisor = greatest_common_divisor(integer_factor(p), integer_factor(q));
  Expr result(std::max<int64_t>(divisor, 1));
  for (const Expr& factor : factors_of(terms_of(q)[0])) {
    const Power power = split_power(factor);
    if (power.base.is_number() || !power.exponent.is_integer()) continue;
    int64_t least = power.exponent.integer();
    for (const Expr& side : {p, q})
      for (const Expr& term : terms_of(side)) least = std::min(least, exponent_in(term, power.base));
    if (least > 0) result = mul(result, pow(power.base, Expr(least)));
  }
  if (q.kind() == Kind::kAdd && result.is(divisor)) {
    // p is a multiple of q, or has it among its factors.
    if (const std::optional<Number> ratio = constant_ratio(p, q)) {
      const Number scale = Number::rational(std::max<int64_t>(divisor, 1), integer_factor(q));
      return ratio->is_rational() ? mul(Expr(scale), q) : result;
    }
  }
  return result;
}

Expr divide_terms(const Expr& p, const Expr& divisor) {
  if (p == divisor) return Expr(1);
  const Expr inverse = pow(divisor, Expr(-1));
  if (p.kind() != Kind::kAdd) return mul(p, inverse);
  if (divisor.kind() == Kind::kAdd || divisor.kind() == Kind::kMul) {
    const Coefficient split = split_coefficient(divisor);
    if (split.rest.kind() == Kind::kAdd) {
      if (const std::optional<Number> ratio = constant_ratio(p, divisor)) return Expr(*ratio);
      return mul(p, inverse);
    }
  }
  std::vector<Expr> terms;
  for (const Expr& term : p.args()) terms.push_back(mul(term, inverse));
  return add(std::move(terms));
}

}  // namespace flambeau::symbolic
