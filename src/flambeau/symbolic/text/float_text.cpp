#include "flambeau/symbolic/text/float_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace flambeau::symbolic {

std::string float_text(double value, int digits, bool strip_zeros) {
  if (value == 0) return "0.0";
  const std::string sign = value < 0 ? "-" : "";
  // Three more digits than shown, cut and not rounded (the exact value has at most 767), decide the rounding.
  const std::string exact = fmt::format("{:.780e}", value < 0 ? -value : value);
  const size_t mark = exact.find('e');
  int exponent = std::stoi(exact.substr(mark + 1));
  std::string text = exact.substr(0, 1) + exact.substr(2, static_cast<size_t>(digits));
  const bool round_up = text.back() >= '5';
  text.pop_back();
  if (round_up) {
    size_t i = text.size();
    while (i > 0 && text[i - 1] == '9') text[--i] = '0';
    if (i > 0) {
      ++text[i - 1];
    } else {
      text = "1" + std::string(static_cast<size_t>(digits) - 1, '0');
      ++exponent;
    }
  }
  size_t split = 1;
  if (exponent > std::min(-(digits / 3), -5) && exponent < digits) {
    if (exponent < 0) {
      text.insert(0, static_cast<size_t>(-exponent), '0');
    } else {
      split = static_cast<size_t>(exponent) + 1;
    }
    exponent = 0;
  }
  text.insert(split, ".");
  if (strip_zeros) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text += '0';
  }
  if (exponent == 0) return sign + text;
  return fmt::format("{}{}e{:+}", sign, text, exponent);
}

}  // namespace flambeau::symbolic
