#include "flambeau/symbolic/forms/algebra.h"

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/order.h"

namespace flambeau::symbolic {

Coefficient split_coefficient(const Expr& expr) {
  if (expr.is_number()) return {expr.number(), Expr(1)};
  if (expr.kind() != Kind::kMul || !expr.arg(0).is_number()) return {Number(1), expr};
  const std::span<const Expr> args = expr.args();
  if (args.size() == 2) return {args[0].number(), args[1]};
  return {args[0].number(), raw_mul({args.begin() + 1, args.end()})};
}

Coefficient split_constant(const Expr& expr) {
  if (expr.is_number()) return {expr.number(), Expr(0)};
  if (expr.kind() != Kind::kAdd || !expr.arg(0).is_number()) return {Number(0), expr};
  const std::span<const Expr> args = expr.args();
  if (args.size() == 2) return {args[0].number(), args[1]};
  return {args[0].number(), raw_add({args.begin() + 1, args.end()})};
}

Power split_power(const Expr& expr) {
  if (expr.kind() != Kind::kPow) return {expr, Expr(1)};
  const Expr& base = expr.arg(0);
  // sympy reads (1/2)**x as 2**-x when it takes powers apart.
  if (base.is_number() && base.number().kind() == NumberKind::kRational && base.number().numerator() == 1)
    return {Expr(base.number().denominator()), negate(expr.arg(1))};
  return {base, expr.arg(1)};
}

std::span<const Expr> terms_of(const Expr& expr) {
  return expr.kind() == Kind::kAdd ? expr.args() : std::span<const Expr>(&expr, 1);
}

std::span<const Expr> factors_of(const Expr& expr) {
  return expr.kind() == Kind::kMul ? expr.args() : std::span<const Expr>(&expr, 1);
}

Fraction split_fraction(const Expr& expr) {
  std::vector<Expr> numerator;
  std::vector<Expr> denominator;
  for (const Expr& factor : factors_of(expr)) {
    if (factor.is_number() && factor.number().is_rational()) {
      numerator.emplace_back(factor.number().numerator());
      denominator.emplace_back(factor.number().denominator());
    } else if (factor.kind() == Kind::kPow && split_coefficient(factor.arg(1)).number.sign() < 0) {
      denominator.push_back(pow(factor.arg(0), negate(factor.arg(1))));
    } else {
      numerator.push_back(factor);
    }
  }
  return {mul(std::move(numerator)), mul(std::move(denominator))};
}

bool could_extract_minus_sign(const Expr& expr) {
  if (expr.is_number()) return expr.number().sign() < 0;
  if (expr.kind() == Kind::kMul) return expr.arg(0).is_number() && expr.arg(0).number().sign() < 0;
  if (expr.kind() != Kind::kAdd) return false;
  size_t negative = 0;
  for (const Expr& term : expr.args()) negative += could_extract_minus_sign(term);
  const size_t positive = expr.args().size() - negative;
  if (positive != negative) return positive < negative;
  return compare_sort_key(expr, negate(expr)) < 0;
}

Expr raw_mul(std::vector<Expr> args) {
  if (args.empty()) return Expr(1);
  if (args.size() == 1) return args[0];
  return make_node(Kind::kMul, std::move(args));
}

Expr raw_add(std::vector<Expr> args) {
  if (args.empty()) return Expr(0);
  if (args.size() == 1) return args[0];
  return make_node(Kind::kAdd, std::move(args));
}

Expr keep_coefficient(const Number& coefficient, const Expr& factors) {
  if (factors.is(1)) return Expr(coefficient);
  if (coefficient.is(1)) return factors;
  if (coefficient.is(-1)) return negate(factors);
  if (factors.kind() == Kind::kAdd) return raw_mul({Expr(coefficient), factors});
  if (factors.kind() == Kind::kMul) {
    std::vector<Expr> args(factors.args().begin(), factors.args().end());
    if (args[0].is_number()) {
      const Number product = multiply(args[0].number(), coefficient);
      if (product.is(1)) {
        args.erase(args.begin());
      } else {
        args[0] = Expr(product);
      }
    } else {
      args.insert(args.begin(), Expr(coefficient));
    }
    return raw_mul(std::move(args));
  }
  return mul(Expr(coefficient), factors);
}

}  // namespace flambeau::symbolic
