#include "flambeau/archive/pickle/text.h"

#include <algorithm>
#include <charconv>

namespace flambeau::pickle {
namespace {

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// The value of `count` hexadecimal digits at `at`, which moves past them.
std::optional<uint32_t> take_hex(std::string_view text, size_t& at, size_t count) {
  if (text.size() - at < count) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    const int digit = hex_value(text[at++]);
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<uint32_t>(digit);
  }
  return value;
}

bool is_octal(char digit) { return digit >= '0' && digit <= '7'; }

}  // namespace

std::optional<std::vector<uint8_t>> decimal_to_twos_complement(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.size() > kMostDigits) return std::nullopt;
  std::vector<uint32_t> words;  // magnitude, least significant first
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    uint64_t carry = static_cast<uint64_t>(digit - '0');
    for (uint32_t& word : words) {
      carry += uint64_t{word} * 10;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words.push_back(static_cast<uint32_t>(carry));
  }
  words.push_back(0);  // room for the sign
  if (negative) {
    uint64_t carry = 1;
    for (uint32_t& word : words) {
      carry += ~word;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  std::vector<uint8_t> bytes;
  for (const uint32_t word : words) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(word >> shift));
  }
  return bytes;
}

std::optional<double> decimal_to_double(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string> unescape_bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t at = 0;
  while (at < text.size()) {
    const char byte = text[at++];
    if (byte != '\\') {
      out += byte;
      continue;
    }
    if (at == text.size()) return std::nullopt;
    const char escape = text[at++];
    switch (escape) {
      case '\n':
        break;
      case '\\':
      case '\'':
      case '"':
        out += escape;
        break;
      case 'a':
        out += '\a';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'v':
        out += '\v';
        break;
      case 'x': {
        const std::optional<uint32_t> value = take_hex(text, at, 2);
        if (!value) return std::nullopt;
        out += static_cast<char>(*value);
        break;
      }
      default:
        if (is_octal(escape)) {
          unsigned value = static_cast<unsigned>(escape - '0');
          for (int i = 0; i < 2 && at < text.size() && is_octal(text[at]); ++i) {
            value = value << 3 | static_cast<unsigned>(text[at++] - '0');
          }
          out += static_cast<char>(value);
        } else {  // Python keeps an escape that it does not know
          out += '\\';
          out += escape;
        }
    }
  }
  return out;
}

std::optional<std::string> unescape_raw_unicode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t at = 0;
  while (at < text.size()) {
    const char byte = text[at++];
    if (byte != '\\' || at == text.size()) {
      append_utf8(out, static_cast<unsigned char>(byte));
      continue;
    }
    const char escape = text[at++];
    if (escape != 'u' && escape != 'U') {
      out += '\\';
      append_utf8(out, static_cast<unsigned char>(escape));
      continue;
    }
    const std::optional<uint32_t> value = take_hex(text, at, escape == 'u' ? 4 : 8);
    if (!value || *value > 0x10FFFF) return std::nullopt;
    append_utf8(out, *value);
  }
  return out;
}

void append_utf8(std::string& out, uint32_t code_point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0 | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | code_point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace flambeau::pickle
