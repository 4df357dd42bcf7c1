// Expressions of sizes between their two spellings: the one of files and the one people read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "flambeau/graph/meta.h"

namespace flambeau::graph {

// Expressions, and all that they are made of.
class ExprTerms {
 public:
  ExprTerms();
  ~ExprTerms();
  // Text that is no expression adds nothing.
  void add(const SymExpr& expr);
  // Whether the expression of that plain form is one of them, or part of one.
  bool contains(std::string_view plain) const;

 private:
  struct Terms;
  std::unique_ptr<Terms> terms_;
};

// The way back. `symbol` gives the file's spelling of a symbol, or nothing: then it is one as PyTorch makes
// them. Throws Error for text that is no expression.
std::string file_expression(std::string_view plain,
                            const std::function<std::optional<std::string>(std::string_view)>& symbol);

}  // namespace flambeau::graph
