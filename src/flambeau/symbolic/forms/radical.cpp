#include "flambeau/symbolic/forms/radical.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {
namespace {

// sympy looks for small factors only.
constexpr int64_t kTrialLimit = 1 << 15;
// Joining roots compares each with each.
constexpr size_t kMaxRoots = 256;

const std::vector<int64_t>& small_primes() {
  static const std::vector<int64_t> primes = [] {
    std::vector<int64_t> found;
    for (int64_t value = 2; value < kTrialLimit; ++value) {
      bool is_prime = true;
      for (const int64_t prime : found) {
        if (prime * prime > value) break;
        if (value % prime == 0) {
          is_prime = false;
          break;
        }
      }
      if (is_prime) found.push_back(value);
    }
    return found;
  }();
  return primes;
}

std::map<int64_t, int64_t> factorize(int64_t value) {
  std::map<int64_t, int64_t> factors;
  for (const int64_t prime : small_primes()) {
    if (prime * prime > value) break;
    for (; value % prime == 0; value /= prime) ++factors[prime];
  }
  if (value > 1) {
    // What is left may be a square of a large prime.
    const auto root = static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(value))));
    if (root > kTrialLimit && root <= 3037000499 && root * root == value) {
      factors[root] += 2;
    } else {
      ++factors[value];
    }
  }
  return factors;
}

}  // namespace

Expr integer_root(int64_t base, const Number& exponent) {
  const int64_t top = exponent.numerator();
  const int64_t bottom = exponent.denominator();
  Number whole(1);
  std::vector<Expr> radicals;
  std::map<int64_t, int64_t> rest;
  for (const auto& [prime, count] : factorize(base)) {
    const Number scaled = multiply(Number(count), Number(top));
    const int64_t quotient = scaled.numerator() / bottom;
    const int64_t remainder = scaled.numerator() % bottom;
    if (quotient > 0) whole = multiply(whole, power(Number(prime), quotient));
    if (remainder == 0) continue;
    const int64_t divisor = greatest_common_divisor(remainder, bottom);
    if (divisor != 1) {
      radicals.push_back(pow(Expr(prime), Number::rational(remainder / divisor, bottom / divisor)));
    } else {
      rest[prime] = remainder;
    }
  }
  int64_t common = 0;
  for (const auto& [prime, count] : rest) common = greatest_common_divisor(common, count);
  Number inner(1);
  for (const auto& [prime, count] : rest) inner = multiply(inner, power(Number(prime), count / common));
  if (inner.is(base) && whole.is(1) && radicals.empty())
    return make_node(Kind::kPow, {Expr(base), Expr(exponent)});
  std::vector<Expr> factors = std::move(radicals);
  factors.insert(factors.begin(), Expr(whole));
  if (!inner.is(1)) factors.push_back(pow(Expr(inner), Number::rational(common, bottom)));
  return mul(std::move(factors));
}

RadicalProduct multiply_roots(const std::vector<Root>& roots) {
  RadicalProduct result;
  if (roots.empty()) return result;
  if (roots.size() == 1 && roots[0].exponent.numerator() < roots[0].exponent.denominator()) {
    result.parts.push_back(make_node(Kind::kPow, {Expr(roots[0].base), Expr(roots[0].exponent)}));
    return result;
  }
  if (roots.size() > kMaxRoots)
    throw Error(ErrorCode::kLimit, fmt::format("a product has more than {} roots of numbers", kMaxRoots));
  // Equal exponents share a base, equal bases share an exponent.
  std::vector<Root> by_base;
  for (const Root& root : roots) {
    bool merged = false;
    for (Root& other : by_base) {
      if (!(other.base == root.base)) continue;
      other.exponent = add(other.exponent, root.exponent);
      merged = true;
    }
    if (!merged) by_base.push_back(root);
  }
  std::vector<Root> by_exponent;
  for (const Root& root : by_base) {
    bool merged = false;
    for (Root& other : by_exponent) {
      if (!(other.exponent == root.exponent)) continue;
      other.base = multiply(other.base, root.base);
      merged = true;
    }
    if (!merged) by_exponent.push_back(root);
  }
  for (const Root& root : by_exponent) {
    const Expr value = pow(Expr(root.base), Expr(root.exponent));
    for (const Expr& factor : factors_of(value)) {
      if (factor.is_number()) {
        result.coefficient = multiply(result.coefficient, factor.number());
      } else {
        result.parts.push_back(factor);
      }
    }
  }
  return result;
}

}  // namespace flambeau::symbolic
