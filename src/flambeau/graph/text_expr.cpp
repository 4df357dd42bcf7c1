#include "flambeau/graph/text_expr.h"

#include "flambeau/graph/text_names.h"

namespace flambeau::graph {
namespace {

constexpr std::string_view kSymbol = "Symbol('";

}  // namespace

std::string plain_expression(std::string_view text) {
  if (text.starts_with(kSymbol)) {
    const std::string_view rest = text.substr(kSymbol.size());
    const std::string_view name = rest.substr(0, rest.find('\''));
    if (is_identifier(name) && text.find(')') == text.size() - 1) return std::string(name);
  }
  return std::string(text);
}

std::vector<std::string> symbols_of(std::string_view text) {
  std::vector<std::string> names;
  for (size_t at = text.find(kSymbol); at != std::string_view::npos; at = text.find(kSymbol, at + 1)) {
    const std::string_view rest = text.substr(at + kSymbol.size());
    names.emplace_back(rest.substr(0, rest.find('\'')));
  }
  if (names.empty() && is_identifier(text)) names.emplace_back(text);
  return names;
}

}  // namespace flambeau::graph
