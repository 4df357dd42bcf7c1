// Products: flattened, powers of one base collected, a number distributed over a lone sum.
#include <algorithm>
#include <unordered_map>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/radical.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/order.h"
#include "flambeau/symbolic/require.h"

namespace flambeau::symbolic {
namespace {

// Adds up the exponents of equal bases, but only those that differ in a number: x**y*x**(2*y) is x**(3*y),
// while x**y*x**z stays.
std::vector<Power> gather(const std::vector<Power>& powers) {
  struct Exponents {
    Expr base;
    std::vector<std::pair<Expr, Number>> terms;
    std::unordered_map<Expr, size_t, ExprHash> index_of;
  };
  std::vector<Exponents> groups;
  std::unordered_map<Expr, size_t, ExprHash> index_of;
  for (const Power& power : powers) {
    const auto [group, is_new_base] = index_of.try_emplace(power.base, groups.size());
    if (is_new_base) groups.push_back({power.base, {}, {}});
    Exponents& exponents = groups[group->second];
    const Coefficient split = split_coefficient(power.exponent);
    const auto [term, is_new_term] = exponents.index_of.try_emplace(split.rest, exponents.terms.size());
    if (is_new_term) {
      exponents.terms.emplace_back(split.rest, split.number);
    } else {
      Number& total = exponents.terms[term->second].second;
      total = add(total, split.number);
    }
  }
  std::vector<Power> result;
  for (const Exponents& group : groups)
    for (const auto& [rest, number] : group.terms) result.push_back({group.base, mul(Expr(number), rest)});
  return result;
}

class Product {
 public:
  explicit Product(std::vector<Expr> factors) : queue_(std::move(factors)) {}

  Expr build() {
    for (size_t i = 0; i < queue_.size(); ++i) {
      const Expr factor = queue_[i];
      take(factor);
      if (coefficient_.is_nan()) return Expr(coefficient_);
    }
    combine_powers();
    combine_numeric_powers();
    return finish();
  }

 private:
  void take(const Expr& factor) {
    if (factor.kind() == Kind::kMul) {
      queue_.insert(queue_.end(), factor.args().begin(), factor.args().end());
      return;
    }
    if (factor.is_number()) {
      coefficient_ = multiply(coefficient_, factor.number());
      return;
    }
    const Power power = split_power(factor);
    if (factor.kind() == Kind::kPow && power.base.is_number()) {
      const Expr& exponent = power.exponent;
      if (exponent.is_number() && exponent.number().is_rational()) {
        if (exponent.is_integer() || exponent.number().sign() < 0) {
          queue_.push_back(pow(power.base, exponent));
          return;
        }
        if (power.base.number().sign() > 0) {
          roots_.push_back({power.base.number(), exponent.number()});
          return;
        }
      } else if (power.base.number().sign() > 0 || exponent.facts().is(Fact::kInteger)) {
        numeric_.push_back(power);
        return;
      }
    }
    powers_.push_back(power);
  }

  void combine_powers() {
    powers_ = gather(powers_);
    // Evaluating a power may change its base; a second round joins it with others.
    for (int round = 0; round < 2; ++round) {
      parts_.clear();
      std::vector<Power> next;
      bool changed = false;
      for (Power power : powers_) {
        if (power.exponent.is_number() && power.exponent.number().is_zero()) continue;
        if (power.exponent.is(1)) {
          if (power.base.is_number()) {
            coefficient_ = multiply(coefficient_, power.base.number());
            continue;
          }
          parts_.push_back(power.base);
        } else {
          const Expr part = pow(power.base, power.exponent);
          if (part.kind() == Kind::kPow && power.base.kind() != Kind::kPow) {
            const Power again = split_power(part);
            if (!(again.base == power.base)) changed = true;
            power = again;
          }
          parts_.push_back(part);
        }
        next.push_back(power);
      }
      if (!changed) return;
      std::vector<Power> joined = gather(next);
      if (joined.size() == next.size()) return;
      powers_ = std::move(joined);
    }
  }

  void combine_numeric_powers() {
    // 2**x*3**x is 6**x.
    std::vector<std::pair<Expr, std::vector<Expr>>> by_exponent;
    std::unordered_map<Expr, size_t, ExprHash> index_of;
    for (const Power& power : gather(numeric_)) {
      const auto [entry, added] = index_of.try_emplace(power.exponent, by_exponent.size());
      if (added) by_exponent.push_back({power.exponent, {}});
      by_exponent[entry->second].second.push_back(power.base);
    }
    for (const auto& [exponent, bases] : by_exponent)
      if (!exponent.is(0)) parts_.push_back(pow(mul(bases), exponent));
    const RadicalProduct radicals = multiply_roots(roots_);
    coefficient_ = multiply(coefficient_, radicals.coefficient);
    parts_.insert(parts_.end(), radicals.parts.begin(), radicals.parts.end());
  }

  void absorb_into_infinity() {
    if (coefficient_.kind() == NumberKind::kInfinity ||
        coefficient_.kind() == NumberKind::kNegativeInfinity) {
      std::erase_if(parts_, [&](const Expr& part) {
        if (part.facts().is(Fact::kExtendedPositive)) return true;
        if (!part.facts().is(Fact::kExtendedNegative)) return false;
        coefficient_ = negate(coefficient_);
        return true;
      });
    } else if (coefficient_.kind() == NumberKind::kComplexInfinity) {
      std::erase_if(parts_, [](const Expr& part) {
        return part.facts().is_not(Fact::kZero) && part.facts().is_known(Fact::kExtendedReal);
      });
    }
  }

  Expr finish() {
    absorb_into_infinity();
    if (coefficient_.is_zero()) {
      for (const Expr& part : parts_)
        if (part.facts().is_not(Fact::kFinite)) return Expr(Number::of_kind(NumberKind::kNaN));
      return Expr(coefficient_);
    }
    std::vector<Expr> result;
    for (const Expr& part : parts_) {
      if (part.is_number()) {
        coefficient_ = multiply(coefficient_, part.number());
      } else {
        result.push_back(part);
      }
    }
    if (coefficient_.is_nan()) return Expr(coefficient_);
    std::sort(result.begin(), result.end(),
              [](const Expr& a, const Expr& b) { return compare_structure(a, b) < 0; });
    if (!coefficient_.is(1)) result.insert(result.begin(), Expr(coefficient_));
    const bool is_scaled_sum = result.size() == 2 && result[0].is_number() &&
                               result[1].kind() == Kind::kAdd &&
                               (coefficient_.is_finite() || coefficient_.kind() == NumberKind::kIntInfinity ||
                                coefficient_.kind() == NumberKind::kNegativeIntInfinity);
    if (is_scaled_sum) {
      std::vector<Expr> terms;
      for (const Expr& term : result[1].args()) terms.push_back(mul(result[0], term));
      return add(std::move(terms));
    }
    return raw_mul(std::move(result));
  }

  std::vector<Expr> queue_;
  Number coefficient_ = Number(1);
  std::vector<Power> powers_;   // symbolic base
  std::vector<Power> numeric_;  // number to a symbolic power
  std::vector<Root> roots_;     // number to a fraction
  std::vector<Expr> parts_;
};

}  // namespace

Expr mul(std::vector<Expr> factors) {
  require_arithmetic(factors, "Mul");
  std::erase_if(factors, [](const Expr& factor) { return factor.is(1); });
  if (factors.empty()) return Expr(1);
  if (factors.size() == 1) return factors[0];
  if (factors.size() == 2) {
    if (factors[1].is_number() && factors[1].number().is_rational()) std::swap(factors[0], factors[1]);
    const Number& number = factors[0].number();
    if (factors[0].is_number() && number.is_rational() && !number.is_zero()) {
      const Coefficient split = split_coefficient(factors[1]);
      if (split.rest.kind() == Kind::kAdd) {
        // 2*(x + y) becomes 2*x + 2*y, but 2*(3*(x + y)), whose inner product was kept as it is, becomes
        // 6*(x + y).
        if (!split.number.is(1)) {
          const Number product = multiply(number, split.number);
          return product.is(1) ? split.rest : raw_mul({Expr(product), split.rest});
        }
        std::vector<Expr> terms;
        for (const Expr& term : split.rest.args()) terms.push_back(keep_coefficient(number, term));
        return add(std::move(terms));
      }
    }
  }
  return Product(std::move(factors)).build();
}

Expr mul(const Expr& a, const Expr& b) { return mul(std::vector<Expr>{a, b}); }

Expr divide(const Expr& a, const Expr& b) { return mul(a, pow(b, Expr(-1))); }

}  // namespace flambeau::symbolic
