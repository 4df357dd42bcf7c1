// What programs say of traced values: sizes as expressions in sympy's text with the example's number beside.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "flambeau/graph/meta.h"
#include "flambeau/symbolic/expr.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::trace {

class Describer {
 public:
  // Nothing: the number is not known before the program runs.
  using Hint = std::function<std::optional<int64_t>(const symbolic::Expr&)>;
  // Expressions are brought into their final form by `simplify` first.
  Describer(Hint hint, std::function<symbolic::Expr(const symbolic::Expr&)> simplify)
      : hint_(std::move(hint)), simplify_(std::move(simplify)) {}

  graph::SymInt describe(const symbolic::SymInt& number);
  graph::TensorMeta describe(const Tensor& tensor);

 private:
  Hint hint_;
  std::function<symbolic::Expr(const symbolic::Expr&)> simplify_;
  // One program names the same few expressions everywhere.
  std::unordered_map<symbolic::Expr, graph::SymInt, symbolic::ExprHash> known_;
};

}  // namespace flambeau::trace
