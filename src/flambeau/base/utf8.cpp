#include "flambeau/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace flambeau {
namespace {

bool is_tail(unsigned char byte) { return (byte & 0xC0) == 0x80; }

size_t sequence_length(std::string_view text, bool surrogates_pass) {
  if (text.empty()) return 0;
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return text.size() >= 2 && is_tail(at(1)) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (text.size() < 3 || !is_tail(at(1)) || !is_tail(at(2))) return 0;
    if (first == 0xE0 && at(1) < 0xA0) return 0;
    if (first == 0xED && at(1) > 0x9F && !surrogates_pass) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (text.size() < 4 || !is_tail(at(1)) || !is_tail(at(2)) || !is_tail(at(3))) return 0;
    if (first == 0xF0 && at(1) < 0x90) return 0;
    if (first == 0xF4 && at(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

bool is_valid(std::string_view text, bool surrogates_pass) {
  size_t at = 0;
  while (at < text.size()) {
    // Eight ASCII bytes at a time: names in files are nearly always ASCII.
    if (text.size() - at >= 8) {
      uint64_t word;
      std::memcpy(&word, text.data() + at, 8);
      if ((word & 0x8080808080808080ULL) == 0) {
        at += 8;
        continue;
      }
    }
    const size_t length = sequence_length(text.substr(at), surrogates_pass);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

}  // namespace

size_t utf8_sequence_length(std::string_view text) { return sequence_length(text, false); }

bool is_valid_utf8(std::string_view text) { return is_valid(text, false); }

bool is_valid_utf8_with_surrogates(std::string_view text) { return is_valid(text, true); }

}  // namespace flambeau
