#include "flambeau/symbolic/evaluate.h"

#include <fmt/format.h>

#include <unordered_set>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/forms/functions.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/require.h"

namespace flambeau::symbolic {
namespace {

// Thrown at a root that is no rational number: two of them may still give one, so numbers alone cannot go on.
struct Irrational {};

class Evaluator {
 public:
  explicit Evaluator(const Bindings& bindings) : bindings_(bindings) {}

  Number value(const Expr& expr) {
    // Shared parts are evaluated once; small ones are not worth the table.
    if (expr.node().size < 8) return compute(expr);
    const auto found = known_.find(&expr.node());
    if (found != known_.end()) return found->second;
    Number result = compute(expr);
    known_.emplace(&expr.node(), result);
    return result;
  }

 private:
  Number compute(const Expr& expr) {
    switch (expr.kind()) {
      case Kind::kNumber:
        return expr.number();
      case Kind::kTrue:
        return Number::boolean(true);
      case Kind::kFalse:
        return Number::boolean(false);
      case Kind::kSymbol:
        return bound(expr);
      case Kind::kAdd: {
        Number total(0);
        for (const Expr& arg : expr.args()) total = add(total, value(arg));
        return total;
      }
      case Kind::kMul: {
        Number total(1);
        for (const Expr& arg : expr.args()) total = multiply(total, value(arg));
        return total;
      }
      case Kind::kPow:
        return raise(value(expr.arg(0)), value(expr.arg(1)));
      case Kind::kEq:
      case Kind::kNe:
      case Kind::kLt:
      case Kind::kLe:
      case Kind::kGt:
      case Kind::kGe:
        return relation(expr);
      case Kind::kAnd:
      case Kind::kOr: {
        const bool decisive = expr.kind() == Kind::kOr;
        for (const Expr& arg : expr.args())
          if (truth(value(arg)) == decisive) return Number::boolean(decisive);
        return Number::boolean(!decisive);
      }
      case Kind::kNot:
        return Number::boolean(!truth(value(expr.arg(0))));
      case Kind::kMax:
      case Kind::kMin:
        return extreme(expr);
      case Kind::kPiecewise:
        for (const Expr& pair : expr.args())
          if (truth(value(pair.arg(1)))) return value(pair.arg(0));
        return Number::of_kind(NumberKind::kNaN);
      case Kind::kIte:
      case Kind::kWhere:
        return value(expr.arg(truth(value(expr.arg(0))) ? 1 : 2));
      case Kind::kIdentity:
        return value(expr.arg(0));
      default:
        return function(expr);
    }
  }

  Number bound(const Expr& expr) const {
    const auto found = bindings_.find(std::string(expr.name()));
    if (found == bindings_.end())
      throw Error(ErrorCode::kNotFound, fmt::format("symbol '{}' has no value", printable(expr.name())));
    return found->second;
  }

  static bool truth(const Number& number) { return number.is_boolean() ? number.truth() : !number.is_zero(); }

  static Number raise(const Number& base, const Number& exponent) {
    const Expr result = pow(Expr(base), Expr(exponent));
    if (!result.is_number()) throw Irrational{};
    if (result.number().kind() == NumberKind::kComplexInfinity) throw_division_by_zero("Pow");
    return result.number();
  }

  Number relation(const Expr& expr) {
    const Number a = value(expr.arg(0));
    const Number b = value(expr.arg(1));
    if (a.is_nan() || b.is_nan()) return Number::boolean(expr.kind() == Kind::kNe);
    const int order = compare(a, b);
    switch (expr.kind()) {
      case Kind::kEq:
        return Number::boolean(order == 0);
      case Kind::kNe:
        return Number::boolean(order != 0);
      case Kind::kLt:
        return Number::boolean(order < 0);
      case Kind::kLe:
        return Number::boolean(order <= 0);
      case Kind::kGt:
        return Number::boolean(order > 0);
      default:
        return Number::boolean(order >= 0);
    }
  }

  Number extreme(const Expr& expr) {
    Number best = value(expr.arg(0));
    for (const Expr& arg : expr.args().subspan(1)) {
      const Number next = value(arg);
      if ((compare(next, best) > 0) == (expr.kind() == Kind::kMax) && compare(next, best) != 0) best = next;
    }
    return best;
  }

  static bool is_infinite(const Number& number) {
    return number.is_infinite() && number.kind() != NumberKind::kComplexInfinity;
  }

  static int64_t whole(const Number& number, const Expr& expr) {
    if (!number.is_integer())
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} takes integers, found {}", expr.name(), number.to_double()));
    return number.numerator();
  }

  Number function(const Expr& expr) {
    std::vector<Number> args;
    for (const Expr& arg : expr.args()) args.push_back(value(arg));
    switch (expr.kind()) {
      case Kind::kFloorDiv:
      case Kind::kCleanDiv:
        if (args[1].is_zero()) throw_division_by_zero(expr.name());
        if (is_infinite(args[0]) || is_infinite(args[1]))
          return floor_div(Expr(args[0]), Expr(args[1])).number();
        return Number(floor_divide(whole(args[0], expr), whole(args[1], expr)));
      case Kind::kMod:
      case Kind::kPythonMod:
        if (args[1].is_zero()) throw_division_by_zero(expr.name());
        return python_modulo(args[0], args[1]);
      case Kind::kModularIndexing: {
        if (args[1].is_zero() || args[2].is_zero()) throw_division_by_zero(expr.name());
        const int64_t quotient = floor_divide(whole(args[0], expr), whole(args[1], expr));
        return Number(floor_modulo(quotient, whole(args[2], expr)));
      }
      case Kind::kPowByNatural: {
        const int64_t exponent = whole(args[1], expr);
        if (exponent < 0)
          throw Error(ErrorCode::kInvalidArgument, "the exponent of PowByNatural is negative");
        return power(Number(whole(args[0], expr)), exponent);
      }
      default:
        break;
    }
    if (!args.empty() && expr.kind() != Kind::kFunction && expr.kind() != Kind::kUndefined)
      if (const std::optional<Number> result = evaluate_function(expr.kind(), expr.name(), args))
        return *result;
    if (expr.kind() == Kind::kToFloat && args[0].is_finite()) return Number::real(args[0].to_double());
    throw Error(ErrorCode::kUnsupported, fmt::format("{} cannot be evaluated", printable(expr.name())));
  }

  const Bindings& bindings_;
  std::unordered_map<const Node*, Number> known_;
};

Expr replace(const Expr& expr, const Replacements& replacements, Replacements& done) {
  if (const auto found = replacements.find(expr); found != replacements.end()) return found->second;
  if (expr.args().empty()) return expr;
  if (const auto found = done.find(expr); found != done.end()) return found->second;
  std::vector<Expr> args;
  bool changed = false;
  for (const Expr& arg : expr.args()) {
    args.push_back(replace(arg, replacements, done));
    changed = changed || !(args.back() == arg);
  }
  Expr result = changed ? rebuild(expr, std::move(args)) : expr;
  done.emplace(expr, result);
  return result;
}

}  // namespace

bool has_unknown_functions(const Expr& expr) {
  std::unordered_set<const Node*> visited;
  std::vector<Expr> open = {expr};
  while (!open.empty()) {
    const Expr next = open.back();
    open.pop_back();
    if (!visited.insert(&next.node()).second) continue;
    if (next.kind() == Kind::kFunction || next.kind() == Kind::kUndefined) return true;
    open.insert(open.end(), next.args().begin(), next.args().end());
  }
  return false;
}

Number evaluate(const Expr& expr, const Bindings& bindings) {
  try {
    return Evaluator(bindings).value(expr);
  } catch (const Irrational&) {
    Replacements values;
    for (const Expr& found : free_symbols(expr))
      if (const auto entry = bindings.find(std::string(found.name())); entry != bindings.end())
        values.emplace(found, Expr(entry->second));
    const Expr result = substitute(expr, values);
    if (result.kind() == Kind::kTrue || result.kind() == Kind::kFalse)
      return Number::boolean(result.kind() == Kind::kTrue);
    if (result.is_number()) return result.number();
    if (const std::optional<double> value = approximate(result)) return Number::real(*value);
    throw Error(ErrorCode::kUnsupported, "a root in an expression is neither a rational number nor a float");
  }
}

Expr substitute(const Expr& expr, const Replacements& replacements) {
  Replacements done;
  return replace(expr, replacements, done);
}

}  // namespace flambeau::symbolic
