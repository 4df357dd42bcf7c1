#include "flambeau/shapes/guard_text.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {
namespace {

using symbolic::Expr;
using symbolic::Kind;

// How tightly sympy's printer binds; equalities bind as products do, inequalities as PyTorch's divisions.
constexpr int kOr = 20;
constexpr int kAnd = 30;
constexpr int kRelation = 35;
constexpr int kSumLevel = 40;
constexpr int kProductLevel = 50;
constexpr int kPower = 60;
constexpr int kAtom = 1000;
// Just under an atom: everything but atoms is put in parentheses.
constexpr int kAlmostAtom = 999;

int precedence(const Expr& expr) {
  switch (expr.kind()) {
    case Kind::kNumber:
      if (expr.number().sign() < 0) return kSumLevel;
      return expr.is_integer() ? kAtom : kProductLevel;
    case Kind::kAdd:
      return kSumLevel;
    case Kind::kMul:
      return symbolic::could_extract_minus_sign(expr) ? kSumLevel : kProductLevel;
    case Kind::kPow:
      return kPower;
    case Kind::kEq:
    case Kind::kNe:
      return kProductLevel;
    case Kind::kLt:
    case Kind::kLe:
    case Kind::kGt:
    case Kind::kGe:
    case Kind::kFloorDiv:
    case Kind::kCleanDiv:
    case Kind::kMod:
    case Kind::kPythonMod:
    case Kind::kModularIndexing:
    case Kind::kIntTrueDiv:
    case Kind::kFloatTrueDiv:
      return kRelation;
    case Kind::kAnd:
      return kAnd;
    case Kind::kOr:
      return kOr;
    case Kind::kNot:
      return 100;
    default:
      return expr.args().empty() ? kAtom : 70;
  }
}

class Printer {
 public:
  explicit Printer(const std::function<std::string(const Expr&)>& source) : source_(source) {}

  std::string print(const Expr& expr) const {
    switch (expr.kind()) {
      case Kind::kSymbol:
        return source_(expr);
      case Kind::kNumber:
        return to_text(expr.number());
      case Kind::kAdd:
        return join(expr, " + ", kSumLevel);
      case Kind::kMul:
        return join(expr, "*", precedence(expr));
      case Kind::kPow:
        return power(expr);
      case Kind::kEq:
        return join(expr, " == ", kProductLevel);
      case Kind::kNe:
        return join(expr, " != ", kProductLevel);
      case Kind::kLt:
        return join(expr, " < ", kRelation);
      case Kind::kLe:
        return join(expr, " <= ", kRelation);
      case Kind::kGt:
        return join(expr, " > ", kRelation);
      case Kind::kGe:
        return join(expr, " >= ", kRelation);
      case Kind::kAnd:
        return join(expr, " and ", kAnd);
      case Kind::kOr:
        return join(expr, " or ", kOr);
      case Kind::kNot:
        return fmt::format("not ({})", print(expr.arg(0)));
      case Kind::kMod:
      case Kind::kPythonMod:
        return join(expr, " % ", kAlmostAtom);
      case Kind::kFloorDiv:
      case Kind::kCleanDiv:
        return join(expr, " // ", kAlmostAtom);
      case Kind::kIntTrueDiv:
        return join(expr, " / ", kAlmostAtom);
      case Kind::kPowByNatural:
        return join(expr, " ** ", kPower);
      case Kind::kMax:
        return call("max", expr);
      case Kind::kMin:
        return call("min", expr);
      case Kind::kAbs:
        return call("abs", expr);
      case Kind::kFloor:
      case Kind::kFloorToInt:
        return call("math.floor", expr);
      case Kind::kCeiling:
      case Kind::kCeilToInt:
        return call("math.ceil", expr);
      case Kind::kTruncToInt:
        return call("math.trunc", expr);
      case Kind::kToFloat:
        return call("torch.sym_float", expr);
      default:
        return expr.args().empty() ? symbolic::to_string(expr) : call(expr.name(), expr);
    }
  }

 private:
  std::string bind(const Expr& expr, int level) const {
    return precedence(expr) <= level ? fmt::format("({})", print(expr)) : print(expr);
  }

  std::string join(const Expr& expr, std::string_view separator, int level) const {
    std::string text;
    for (const Expr& arg : expr.args()) {
      if (!text.empty()) text += separator;
      text += bind(arg, level);
    }
    return text;
  }

  std::string call(std::string_view name, const Expr& expr) const {
    std::string text;
    for (const Expr& arg : expr.args()) text += fmt::format("{}{}", text.empty() ? "" : ", ", print(arg));
    return fmt::format("{}({})", name, text);
  }

  // As repeated products: Python's ** of sizes would be taken for floats.
  std::string power(const Expr& expr) const {
    const Expr& exponent = expr.arg(1);
    if (!exponent.is_integer() || exponent.integer() < 1 || exponent.integer() > 64)
      return join(expr, " ** ", kPower);
    std::string text;
    for (int64_t i = 0; i < exponent.integer(); ++i)
      text += fmt::format("{}{}", text.empty() ? "" : "*", bind(expr.arg(0), kProductLevel));
    return text;
  }

  const std::function<std::string(const Expr&)>& source_;
};

}  // namespace

std::string guard_text(const Expr& condition, const std::function<std::string(const Expr&)>& source) {
  return Printer(source).print(condition);
}

}  // namespace flambeau::trace
