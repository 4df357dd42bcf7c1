#include "flambeau/archive/json/text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>

#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"

namespace flambeau::json {
namespace {

uint32_t decode(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(sequence[i])); };
  if (sequence.size() == 2) return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
  if (sequence.size() == 3) return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
}

// How many characters from the start go into a string as they are.
size_t plain_length(std::string_view text) {
  size_t length = 0;
  while (length < text.size()) {
    const auto c = static_cast<unsigned char>(text[length]);
    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') break;
    ++length;
  }
  return length;
}

}  // namespace

void append_double(std::string& to, double value) {
  if (std::isnan(value)) {
    to += "NaN";
    return;
  }
  if (std::isinf(value)) {
    to += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char buffer[40];
  const auto result = std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<size_t>(result.ptr - buffer));
  if (text.front() == '-') {
    to += '-';
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  int exponent = 0;
  const size_t power = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + power, text.data() + text.size(), exponent);
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);

  if (exponent < -4 || exponent >= 16) {
    to += digits[0];
    if (digits.size() > 1) to.append(1, '.').append(digits, 1);
    to += fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  } else if (exponent < 0) {
    to.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  } else {
    const auto whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    to.append(digits, 0, whole).append(1, '.');
    to += digits.size() > whole ? digits.substr(whole) : "0";
  }
}

void append_string(std::string& to, std::string_view text) {
  // Pickles hold encoded surrogates, which Python's strings can have too.
  if (!is_valid_utf8_with_surrogates(text)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the text '{}' is not UTF-8 and cannot be written as JSON", printable(text)));
  }
  const auto append_escape = [&](uint32_t code) {
    fmt::format_to(std::back_inserter(to), "\\u{:04x}", code);
  };
  to += '"';
  for (size_t at = 0; at < text.size();) {
    const size_t plain = plain_length(text.substr(at));
    to.append(text, at, plain);
    at += plain;
    if (at == text.size()) break;
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x80) {
      const size_t length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
      const uint32_t code = decode(text.substr(at, length));
      if (code >= 0x10000) {
        append_escape(0xd800 + ((code - 0x10000) >> 10));
        append_escape(0xdc00 + ((code - 0x10000) & 0x3ff));
      } else {
        append_escape(code);
      }
      at += length;
      continue;
    }
    constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    const size_t index = kSpecial.find(text[at]);
    if (index != std::string_view::npos) {
      to.append(1, '\\').append(1, kLetters[index]);
    } else {
      append_escape(c);
    }
    ++at;
  }
  to += '"';
}

void append_integer(std::string& to, int64_t value) {
  char buffer[24];
  to.append(buffer, std::to_chars(buffer, std::end(buffer), value).ptr);
}

}  // namespace flambeau::json
