#include "flambeau/graph/text/expr.h"

#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::graph {

struct ExprTerms::Terms {
  std::unordered_set<symbolic::Expr, symbolic::ExprHash> all;
  std::unordered_map<std::string, symbolic::Expr> symbols;

  void add(const symbolic::Expr& expr) {
    if (!all.insert(expr).second) return;
    if (expr.is_symbol()) symbols.emplace(expr.name(), expr);
    for (const symbolic::Expr& argument : expr.args()) add(argument);
  }
};

ExprTerms::ExprTerms() : terms_(std::make_unique<Terms>()) {}
ExprTerms::~ExprTerms() = default;

void ExprTerms::add(const SymExpr& expr) {
  if (const symbolic::Expr* const read = expr.find_expr()) terms_->add(*read);
}

bool ExprTerms::contains(std::string_view plain) const {
  try {
    const symbolic::Expr expr =
        symbolic::parse(plain, [&](std::string_view name) -> std::optional<symbolic::Expr> {
          const auto found = terms_->symbols.find(std::string(name));
          if (found == terms_->symbols.end()) return std::nullopt;
          return found->second;
        });
    return !expr.is_number() && terms_->all.contains(expr);
  } catch (const Error&) {
    return false;
  }
}

std::string file_expression(std::string_view plain,
                            const std::function<std::optional<std::string>(std::string_view)>& symbol) {
  return symbolic::to_srepr(
      symbolic::parse(plain, [&](std::string_view name) -> std::optional<symbolic::Expr> {
        const std::optional<std::string> known = symbol(name);
        if (!known) return std::nullopt;
        symbolic::Expr found = symbolic::parse(*known);
        if (!found.is_symbol()) return std::nullopt;
        return found;
      }));
}

}  // namespace flambeau::graph
