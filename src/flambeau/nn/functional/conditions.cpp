#include "flambeau/nn/functional/conditions.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::nn {

Condition eq(const SymInt& a, const SymInt& b) { return {symbolic::eq(a.expr(), b.expr())}; }
Condition ne(const SymInt& a, const SymInt& b) { return {symbolic::ne(a.expr(), b.expr())}; }
Condition lt(const SymInt& a, const SymInt& b) { return {symbolic::lt(a.expr(), b.expr())}; }
Condition le(const SymInt& a, const SymInt& b) { return {symbolic::le(a.expr(), b.expr())}; }
Condition gt(const SymInt& a, const SymInt& b) { return {symbolic::gt(a.expr(), b.expr())}; }
Condition ge(const SymInt& a, const SymInt& b) { return {symbolic::ge(a.expr(), b.expr())}; }

SymInt item(Input x) {
  set_where(x.where);
  ops::Context& context = current();
  const ops::Operator& op = context.library().get("aten::item");
  const Value arguments[] = {x.tensor};
  const Value result = ops::call(context, op, arguments).at(0);
  if (const auto* const symbol = result.get_if<SymInt>()) return *symbol;
  return result.scalar().to_int();
}

void check(const Condition& condition, const std::string& message) {
  if (condition.expr.kind() == symbolic::Kind::kTrue) return;
  if (condition.expr.kind() == symbolic::Kind::kFalse) {
    throw Error(ErrorCode::kInvalidArgument, message.empty() ? "a check of the model failed" : message);
  }
  if (observer() != nullptr) observer()->check(condition.expr, message);
}

}  // namespace flambeau::nn
