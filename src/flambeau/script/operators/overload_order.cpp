#include "flambeau/script/operators/overload_order.h"

#include <algorithm>

namespace flambeau::script {

std::string_view overload_order(std::string_view operator_name) {
  const std::string_view text = overload_order_text();
  size_t low = 0;  // both are starts of lines
  size_t high = text.size();
  while (low < high) {
    const size_t before = text.substr(0, low + (high - low) / 2).rfind('\n');
    const size_t start = std::max(before == std::string_view::npos ? 0 : before + 1, low);
    const std::string_view line = text.substr(start, text.find('\n', start) - start);
    const std::string_view name = line.substr(0, line.find(' '));
    if (name == operator_name) return line.substr(name.size() + 1);
    if (name < operator_name) {
      low = start + line.size() + 1;
    } else {
      high = start;
    }
  }
  return {};
}

}  // namespace flambeau::script
