// Numbers that come from data, and what a model requires of them: item(x) is a number of the tensor while a
// model runs and a symbol while it is traced; check() tells the tracer what is always true of it.
#pragma once

#include <string>

#include "flambeau/nn/functional/call.h"
#include "flambeau/symbolic/expr.h"

namespace flambeau::nn {

// A comparison of sizes that is not answered yet.
struct Condition {
  symbolic::Expr expr;
};
Condition eq(const SymInt& a, const SymInt& b);
Condition ne(const SymInt& a, const SymInt& b);
Condition lt(const SymInt& a, const SymInt& b);
Condition le(const SymInt& a, const SymInt& b);
Condition gt(const SymInt& a, const SymInt& b);
Condition ge(const SymInt& a, const SymInt& b);

// The one number of an integer tensor.
SymInt item(Input x);
// As torch._check: throws Error(kInvalidArgument) where the condition is false; a program asserts what is
// only known when it runs.
void check(const Condition& condition, const std::string& message = {});

}  // namespace flambeau::nn
