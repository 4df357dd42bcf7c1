// Symbols of old expressions, which were written without their assumptions, get them back by their names.
#include <string>
#include <string_view>

#include "flambeau/formats/pt2/upgrade.h"

namespace flambeau::pt2 {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Empty for a name that PyTorch gives no symbol. s0: a size; u0, before that i0: only the data tells.
std::string symbol(std::string_view name) {
  if (name.size() < 2 || name.find_first_not_of("0123456789", 1) != std::string_view::npos) return {};
  const std::string_view number = name.substr(1);
  if (name[0] == 's') return "Symbol('s" + std::string(number) + "', positive=True, integer=True)";
  if (name[0] == 'u' || name[0] == 'i') return "Symbol('u" + std::string(number) + "', integer=True)";
  return {};
}

}  // namespace

std::string symbols_to_srepr(std::string_view expression) {
  // Names between quotes: this is constructor form already.
  if (expression.find('\'') != std::string_view::npos) return std::string(expression);
  std::string result;
  size_t at = 0;
  while (at < expression.size()) {
    if (!is_name(expression[at])) {
      result += expression[at++];
      continue;
    }
    const size_t begin = at;
    while (at < expression.size() && is_name(expression[at])) ++at;
    const std::string_view name = expression.substr(begin, at - begin);
    const bool called = at < expression.size() && expression[at] == '(';
    const std::string full = called ? std::string() : symbol(name);
    result += full.empty() ? name : std::string_view(full);
  }
  return result;
}

}  // namespace flambeau::pt2
