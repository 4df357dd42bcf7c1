#include "flambeau/shapes/proof.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/condition.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::Kind;
using symbolic::Number;
using symbolic::ValueRange;

namespace {

constexpr size_t kMostInequalities = 600;
constexpr size_t kMostCases = 32;
constexpr int kMostDepth = 40;

// A sum of numbers times unknowns, and a constant.
struct Sum {
  std::map<size_t, Number> terms;
  Number constant;

  void add(const Sum& other, const Number& factor) {
    for (const auto& [unknown, count] : other.terms) {
      Number& mine = terms[unknown];
      mine = symbolic::add(mine, multiply(count, factor));
      if (mine.is_zero()) terms.erase(unknown);
    }
    constant = symbolic::add(constant, multiply(other.constant, factor));
  }
  bool operator==(const Sum&) const = default;
};

// The least whole numbers of which it is not negative in the same places; all unknowns are integers.
void tighten(Sum& sum) {
  int64_t all = 1;
  const auto note = [&](const Number& number) {
    const int64_t divisor = symbolic::greatest_common_divisor(all, number.denominator());
    all = multiply(Number(all / divisor), Number(number.denominator())).numerator();
  };
  for (const auto& [unknown, count] : sum.terms) note(count);
  if (sum.terms.empty()) return;
  int64_t common = 0;
  for (auto& [unknown, count] : sum.terms) {
    count = multiply(count, Number(all));
    common = symbolic::greatest_common_divisor(common, count.numerator());
  }
  for (auto& [unknown, count] : sum.terms) count = Number(count.numerator() / common);
  const Number scaled = multiply(sum.constant, Number(all));
  // floor(constant / common), of a fraction too
  sum.constant = Number(symbolic::floor_divide(
      scaled.numerator(), multiply(Number(scaled.denominator()), Number(common)).numerator()));
}

class Prover {
 public:
  explicit Prover(const RangeOf& range_of) : range_of_(range_of) {}

  // Cannot `goal` be negative?
  bool is_never_negative(const Expr& goal) {
    unknowns_.clear();
    facts_.clear();
    choices_.clear();
    count_ = 0;
    Sum contrary;
    contrary.add(sum_of(goal, 0), Number(-1));
    contrary.constant = symbolic::add(contrary.constant, Number(-1));
    std::vector<Sum> given = facts_;
    given.push_back(std::move(contrary));
    size_t cases = kMostCases;
    return contradicts_in_all_cases(std::move(given), 0, cases);
  }

 private:
  // Of which one is what the unknown is: a maximum is one of its arguments.
  struct Choice {
    size_t unknown;
    std::vector<Sum> among;
  };

  Sum unknown_sum(size_t unknown) const { return {.terms = {{unknown, Number(1)}}, .constant = {}}; }

  void require(Sum sum) { facts_.push_back(std::move(sum)); }

  size_t unknown_for(const Expr& expr) {
    const auto [place, is_new] = unknowns_.try_emplace(expr, count_);
    if (!is_new) return place->second;
    const size_t unknown = count_++;
    const ValueRange range =
        symbolic::bounds(expr, [this](std::string_view name) { return range_of_(name); });
    const auto bound = [&](const Number& number, int sign) {
      if (!number.is_integer()) return;
      Sum sum = unknown_sum(unknown);
      if (sign < 0) sum.terms[unknown] = Number(-1);
      sum.constant = multiply(number, Number(-sign));
      require(std::move(sum));
    };
    if (range.is_int()) {
      bound(range.lower(), 1);
      bound(range.upper(), -1);
    }
    return unknown;
  }

  Sum sum_of(const Expr& expr, int depth) {
    if (depth > kMostDepth) throw Error(ErrorCode::kLimit, "a condition is nested too deep");
    Sum sum;
    switch (expr.kind()) {
      case Kind::kNumber:
        if (!expr.number().is_rational()) throw Error(ErrorCode::kLimit, "a condition has fractions");
        sum.constant = expr.number();
        return sum;
      case Kind::kAdd:
        for (const Expr& term : expr.args()) sum.add(sum_of(term, depth + 1), Number(1));
        return sum;
      case Kind::kMul:
        if (expr.args().size() == 2 && expr.arg(0).is_number() && expr.arg(0).number().is_rational()) {
          sum.add(sum_of(expr.arg(1), depth + 1), expr.arg(0).number());
          return sum;
        }
        return product_of(expr);
      case Kind::kFloorDiv:
      case Kind::kCleanDiv:
        return quotient_of(expr, depth);
      case Kind::kMod:
      case Kind::kPythonMod:
        if (!is_divisor(expr.arg(1))) break;
        sum = sum_of(expr.arg(0), depth + 1);
        sum.add(sum_of(symbolic::floor_div(expr.arg(0), expr.arg(1)), depth + 1),
                Number(-expr.arg(1).integer()));
        return sum;
      case Kind::kMax:
      case Kind::kMin:
        return chosen_of(expr, depth);
      default:
        break;
    }
    return unknown_sum(unknown_for(expr));
  }

  // "-3*s0*s1" is -3 times a product that is nothing but itself.
  Sum product_of(const Expr& expr) {
    std::vector<Expr> factors;
    Number factor(1);
    for (const Expr& part : expr.args()) {
      if (part.is_number() && part.number().is_rational()) {
        factor = multiply(factor, part.number());
      } else {
        factors.push_back(part);
      }
    }
    Sum sum;
    sum.add(unknown_sum(unknown_for(symbolic::mul(factors))), factor);
    return sum;
  }

  static bool is_divisor(const Expr& expr) { return expr.is_integer() && expr.integer() > 0; }

  // d * q <= p <= d * q + d - 1
  Sum quotient_of(const Expr& expr, int depth) {
    const bool is_new = !unknowns_.contains(expr);
    const size_t quotient = unknown_for(expr);
    if (is_new && is_divisor(expr.arg(1))) {
      const int64_t divisor = expr.arg(1).integer();
      Sum rest = sum_of(expr.arg(0), depth + 1);
      rest.add(unknown_sum(quotient), Number(-divisor));
      Sum above;
      above.add(rest, Number(-1));
      if (expr.kind() == Kind::kFloorDiv) above.constant = symbolic::add(above.constant, Number(divisor - 1));
      require(std::move(rest));
      require(std::move(above));
    }
    return unknown_sum(quotient);
  }

  Sum chosen_of(const Expr& expr, int depth) {
    const bool is_new = !unknowns_.contains(expr);
    const size_t unknown = unknown_for(expr);
    if (!is_new) return unknown_sum(unknown);
    const Number sign(expr.kind() == Kind::kMax ? 1 : -1);
    Choice choice{.unknown = unknown, .among = {}};
    for (const Expr& part : expr.args()) {
      Sum one = sum_of(part, depth + 1);
      Sum above;
      above.add(unknown_sum(unknown), sign);
      above.add(one, multiply(sign, Number(-1)));
      require(std::move(above));
      choice.among.push_back(std::move(one));
    }
    choices_.push_back(std::move(choice));
    return unknown_sum(unknown);
  }

  bool contradicts_in_all_cases(std::vector<Sum> given, size_t at, size_t& cases) {
    if (at == choices_.size()) return contradicts(std::move(given));
    for (const Sum& part : choices_[at].among) {
      if (cases-- == 0) return false;
      std::vector<Sum> one = given;
      for (const int sign : {1, -1}) {
        Sum same;
        same.add(unknown_sum(choices_[at].unknown), Number(sign));
        same.add(part, Number(-sign));
        one.push_back(std::move(same));
      }
      if (!contradicts_in_all_cases(std::move(one), at + 1, cases)) return false;
      if (cases == 0) return false;
    }
    return true;
  }

  // None of the sums is negative: is that impossible?
  static bool contradicts(std::vector<Sum> given) {
    while (true) {
      std::vector<Sum> left;
      for (Sum& sum : given) {
        tighten(sum);
        if (sum.terms.empty()) {
          if (sum.constant.sign() < 0) return true;
          continue;
        }
        if (std::ranges::find(left, sum) == left.end()) left.push_back(std::move(sum));
      }
      if (left.empty()) return false;
      const std::optional<size_t> unknown = cheapest(left);
      if (!unknown) return false;
      given = without(*unknown, left);
    }
  }

  // The unknown whose elimination leaves the fewest sums; nothing where these would be too many.
  static std::optional<size_t> cheapest(const std::vector<Sum>& sums) {
    std::map<size_t, std::pair<size_t, size_t>> uses;
    for (const Sum& sum : sums) {
      for (const auto& [unknown, count] : sum.terms) {
        auto& [below, above] = uses[unknown];
        ++(count.sign() > 0 ? below : above);
      }
    }
    std::optional<size_t> best;
    size_t least = 0;
    for (const auto& [unknown, counts] : uses) {
      const size_t made = counts.first * counts.second;
      if (best && made >= least) continue;
      best = unknown;
      least = made;
    }
    if (sums.size() + least > kMostInequalities) return {};
    return best;
  }

  static std::vector<Sum> without(size_t unknown, const std::vector<Sum>& sums) {
    std::vector<Sum> made;
    std::vector<const Sum*> below, above;
    for (const Sum& sum : sums) {
      const auto found = sum.terms.find(unknown);
      if (found == sum.terms.end()) {
        made.push_back(sum);
      } else {
        (found->second.sign() > 0 ? below : above).push_back(&sum);
      }
    }
    for (const Sum* const low : below) {
      for (const Sum* const high : above) {
        Sum sum;
        sum.add(*low, symbolic::negate(high->terms.at(unknown)));
        sum.add(*high, low->terms.at(unknown));
        made.push_back(std::move(sum));
      }
    }
    return made;
  }

  const RangeOf& range_of_;
  std::unordered_map<Expr, size_t, symbolic::ExprHash> unknowns_;
  std::vector<Sum> facts_;
  std::vector<Choice> choices_;
  size_t count_ = 0;
};

bool proves(Prover& prover, const Expr& condition, int depth) {
  const auto is_less = [&](const Expr& a, const Expr& b, int64_t by) {
    return prover.is_never_negative(expand(symbolic::add({b, symbolic::negate(a), Expr(-by)})));
  };
  if (depth > kMostDepth) return false;
  const auto part = [&](const Expr& one) { return proves(prover, one, depth + 1); };
  switch (condition.kind()) {
    case Kind::kTrue:
      return true;
    case Kind::kAnd:
      return std::ranges::all_of(condition.args(), part);
    case Kind::kOr:
      return std::ranges::any_of(condition.args(), part);
    case Kind::kLe:
      return is_less(condition.arg(0), condition.arg(1), 0);
    case Kind::kLt:
      return is_less(condition.arg(0), condition.arg(1), 1);
    case Kind::kGe:
      return is_less(condition.arg(1), condition.arg(0), 0);
    case Kind::kGt:
      return is_less(condition.arg(1), condition.arg(0), 1);
    case Kind::kEq:
      return is_less(condition.arg(0), condition.arg(1), 0) && is_less(condition.arg(1), condition.arg(0), 0);
    case Kind::kNe:
      return is_less(condition.arg(0), condition.arg(1), 1) || is_less(condition.arg(1), condition.arg(0), 1);
    default:
      return false;
  }
}

}  // namespace

bool is_proved(const Expr& condition, const RangeOf& range_of) {
  try {
    Prover prover(range_of);
    return proves(prover, condition, 0);
  } catch (const Error&) {
    return false;  // numbers that do not fit
  }
}

}  // namespace flambeau::trace
