#include "flambeau/graph/text_expr.h"

#include "flambeau/base/error.h"
#include "flambeau/symbolic/parse.h"
#include "flambeau/symbolic/print.h"

namespace flambeau::graph {

std::string plain_expression(std::string_view text) {
  try {
    return symbolic::to_string(symbolic::parse(text));
  } catch (const Error&) {
    return std::string(text);
  }
}

std::vector<std::string> symbols_of(std::string_view text) {
  std::vector<std::string> names;
  try {
    for (const symbolic::Expr& symbol : symbolic::free_symbols(symbolic::parse(text))) {
      names.emplace_back(symbol.name());
    }
  } catch (const Error&) {
    // No expression: it names nothing.
  }
  return names;
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
