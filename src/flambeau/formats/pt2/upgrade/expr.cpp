// Symbols of old expressions, which were written without their assumptions, get them back by their names.
#include <string>
#include <string_view>

#include "flambeau/formats/pt2/upgrade/steps.h"
#include "flambeau/formats/pt2/upgrade/upgrade.h"

namespace flambeau::pt2 {
namespace {

bool is_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The text with replace(letter, number) for each symbol: "s" and "0" for s0. Functions and numbers stay.
template <typename Replace>
std::string replace_symbols(std::string_view expression, Replace&& replace) {
  // Names between quotes: this is constructor form already.
  if (expression.find('\'') != std::string_view::npos) return std::string(expression);
  std::string result;
  size_t at = 0;
  while (at < expression.size()) {
    const size_t begin = at;
    while (at < expression.size() && is_name(expression[at])) ++at;
    const std::string_view name = expression.substr(begin, at - begin);
    const bool called = at < expression.size() && expression[at] == '(';
    if (name.size() > 1 && !called && name.find_first_not_of("0123456789", 1) == std::string_view::npos) {
      result += replace(name[0], name.substr(1));
    } else {
      result += name;
    }
    if (at < expression.size()) result += expression[at++];
  }
  return result;
}

}  // namespace

std::string rename_unbacked(std::string_view expression) {
  return replace_symbols(expression, [](char letter, std::string_view number) {
    return std::string(1, letter == 'i' ? 'u' : letter).append(number);
  });
}

std::string symbols_to_srepr(std::string_view expression) {
  return replace_symbols(expression, [](char letter, std::string_view number) {
    std::string name = std::string(1, letter).append(number);
    if (letter == 's') return "Symbol('" + name + "', positive=True, integer=True)";  // a size
    if (letter == 'u') return "Symbol('" + name + "', integer=True)";  // known from the data alone
    return name;
  });
}

}  // namespace flambeau::pt2
