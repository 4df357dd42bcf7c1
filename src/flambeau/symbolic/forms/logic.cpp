// And, Or, Not: flattened, sorted, without repetitions; a relation beside its opposite decides them.
#include <algorithm>
#include <unordered_set>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/functions.h"
#include "flambeau/symbolic/forms/relation.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/order.h"
#include "flambeau/symbolic/require.h"

namespace flambeau::symbolic {
namespace {

// The numbers 0 and 1 count as conditions, as in sympy.
Expr as_condition(const Expr& arg) {
  if (arg.is(0)) return boolean(false);
  if (arg.is(1)) return boolean(true);
  return arg;
}

Expr combine(Kind kind, std::vector<Expr> args) {
  const Kind neutral = kind == Kind::kAnd ? Kind::kTrue : Kind::kFalse;
  const Kind dominant = kind == Kind::kAnd ? Kind::kFalse : Kind::kTrue;
  for (Expr& arg : args) arg = as_condition(arg);
  require_logical(args, kind_info(kind).name);
  // sympy looks for opposites before it flattens an Or, and after it flattens an And.
  std::vector<Expr> flat;
  for (const Expr& arg : args) {
    if (arg.kind() == neutral) continue;
    if (arg.kind() == dominant) return boolean(dominant == Kind::kTrue);
    if (kind == Kind::kAnd && arg.kind() == kind) {
      flat.insert(flat.end(), arg.args().begin(), arg.args().end());
    } else {
      flat.push_back(arg);
    }
  }
  if (kind == Kind::kAnd) sort_and_unique(flat);
  std::vector<Expr> kept;
  std::unordered_set<Expr, ExprHash> relations;
  for (const Expr& arg : flat) {
    if (arg.is_relation()) {
      const Expr normal = canonical(arg);
      if (relations.contains(normal)) continue;
      const Expr opposite = normal.is_relation() ? canonical(negated(normal)) : normal;
      if (relations.contains(opposite)) return boolean(dominant == Kind::kTrue);
      relations.insert(normal);
    }
    if (arg.kind() == kind) {
      kept.insert(kept.end(), arg.args().begin(), arg.args().end());
    } else {
      kept.push_back(arg);
    }
  }
  sort_and_unique(kept);
  if (kept.empty()) return boolean(neutral == Kind::kTrue);
  if (kept.size() == 1) return kept[0];
  return make_node(kind, std::move(kept));
}

}  // namespace

Expr or_of_chain(const std::vector<Expr>& args) {
  // Or(Or(a, b), c) compares a with b, and c with nothing.
  Expr result = or_({args[0], args[1]});
  if (args.size() == 2) return result;
  std::vector<Expr> flat;
  const auto collect = [&](const Expr& arg) {
    if (arg.kind() == Kind::kOr) {
      flat.insert(flat.end(), arg.args().begin(), arg.args().end());
    } else if (arg.kind() != Kind::kFalse) {
      flat.push_back(arg);
    }
  };
  collect(result);
  for (const Expr& arg : std::span<const Expr>(args).subspan(2)) collect(as_condition(arg));
  require_logical(flat, "Or");
  for (const Expr& arg : flat)
    if (arg.kind() == Kind::kTrue) return arg;
  sort_and_unique(flat);
  if (flat.empty()) return boolean(false);
  if (flat.size() == 1) return flat[0];
  return make_node(Kind::kOr, std::move(flat));
}

Expr boolean(bool value) {
  static const Expr yes = make_node(Kind::kTrue, {});
  static const Expr no = make_node(Kind::kFalse, {});
  return value ? yes : no;
}

Expr and_(std::vector<Expr> args) { return combine(Kind::kAnd, std::move(args)); }
Expr or_(std::vector<Expr> args) { return combine(Kind::kOr, std::move(args)); }

Expr not_(const Expr& arg) {
  if (arg.is_number()) return boolean(arg.number().is_zero());
  if (arg.kind() == Kind::kTrue) return boolean(false);
  if (arg.kind() == Kind::kFalse) return boolean(true);
  if (arg.kind() == Kind::kNot) return arg.arg(0);
  if (arg.is_relation()) return negated(arg);
  require_logical(std::vector<Expr>{arg}, "Not");
  return make_node(Kind::kNot, {arg});
}

Expr ite(const Expr& condition, const Expr& then, const Expr& otherwise) {
  require_logical(std::vector<Expr>{condition, then, otherwise}, "ITE");
  if (condition.kind() == Kind::kTrue) return then;
  if (condition.kind() == Kind::kFalse) return otherwise;
  if (then == otherwise) return then;
  if (then.kind() == Kind::kTrue && otherwise.kind() == Kind::kFalse) return condition;
  if (then.kind() == Kind::kFalse && otherwise.kind() == Kind::kTrue) return not_(condition);
  if (then.kind() == Kind::kTrue) return or_({condition, otherwise});
  if (otherwise.kind() == Kind::kFalse) return and_({condition, then});
  return make_node(Kind::kIte, {condition, then, otherwise});
}

}  // namespace flambeau::symbolic
