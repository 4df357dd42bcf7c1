#include "command.h"

#include <fmt/format.h>

#include <algorithm>

namespace flambeau::cli {
namespace {

// The name among "-s,--stats" that has `dashes` dashes.
std::string_view name_with(std::string_view names, size_t dashes) {
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, comma);
    if (std::min(name.find_first_not_of('-'), name.size()) == dashes) return name;
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return {};
}

}  // namespace

std::string_view Option::long_name() const { return name_with(names, 2); }
std::string_view Option::short_name() const { return name_with(names, 1); }

std::string examples_text(const std::vector<Example>& examples) {
  constexpr size_t kWidest = 56;
  size_t width = 0;
  for (const Example& example : examples) {
    if (!example.what.empty() && example.line.size() <= kWidest) width = std::max(width, example.line.size());
  }
  std::string text = "Examples:\n";
  for (const Example& example : examples) {
    text += fmt::format("  flambeau {:<{}}", example.line, example.what.empty() ? 0 : width);
    if (!example.what.empty()) text += fmt::format("  {}", example.what);
    text += '\n';
  }
  return text;
}

}  // namespace flambeau::cli
