#include "flambeau/script/syntax/literals.h"

#include <charconv>
#include <limits>

#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::syntax {
namespace {

// The number is well formed: the lexer saw to it.
double read_float(std::string_view digits, bool is_hex) {
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                      is_hex ? std::chars_format::hex : std::chars_format::general);
  if (result.ec == std::errc::result_out_of_range) {
    // As strtod: too small is zero, too large infinite.
    const size_t exponent = digits.find_first_of(is_hex ? "pP" : "eE");
    const bool is_small = exponent != std::string_view::npos
                              ? digits.substr(exponent + 1).starts_with('-')
                              : digits.starts_with("0.") || digits.starts_with('.');
    value = is_small ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return value;
}

int octal_value(std::string_view digits) {
  if (digits.size() < 3) return -1;
  int value = 0;
  for (const char digit : digits.substr(0, 3)) {
    if (digit < '0' || digit > '7') return -1;
    value = value * 8 + (digit - '0');
  }
  return value < 256 ? value : -1;
}

}  // namespace

Number read_number(std::string_view text, const SourceRange& range) {
  const bool is_negative = text.starts_with('-');
  std::string_view digits = text.substr(is_negative ? 1 : 0);
  const bool is_imaginary = digits.ends_with('j');
  if (is_imaginary) digits.remove_suffix(1);
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  if (is_imaginary || digits.find_first_of(is_hex ? ".pP" : ".eE") != std::string_view::npos) {
    const double value = (is_negative ? -1 : 1) * read_float(digits, is_hex);
    if (is_imaginary) return std::complex<double>(0, value);
    return value;
  }
  const bool is_octal = !is_hex && digits.size() > 1 && digits[0] == '0';
  uint64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                      is_hex     ? 16
                                      : is_octal ? 8
                                                 : 10);
  if (result.ptr != digits.data() + digits.size() && is_octal) {
    fail_at(range, "'" + std::string(text) + "' begins with a zero but is not octal");
  }
  const uint64_t most = uint64_t{1} << 63;
  if (result.ec != std::errc() || value > most || (value == most && !is_negative)) {
    fail_at(range, "the number " + printable(text) + " does not fit an int of 64 bits",
            "write it as a float");
  }
  return static_cast<int64_t>(is_negative ? 0 - value : value);
}

std::string read_string(std::string_view token, const SourceRange& range) {
  const bool is_long = token.size() >= 6 && token[1] == token[0] && token[2] == token[0];
  const size_t width = is_long ? 3 : 1;
  return resolve_escapes(token.substr(width, token.size() - 2 * width), range);
}

std::string resolve_escapes(std::string_view text, const SourceRange& range) {
  static constexpr std::string_view kLetters = "\\'\"\nabfntv";
  static constexpr std::string_view kMeanings = "\\'\"\n\a\b\f\n\t\v";
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      result += text[at];
      continue;
    }
    const char escaped = text[++at];
    if (const size_t known = kLetters.find(escaped); known != std::string_view::npos) {
      result += kMeanings[known];
    } else if (const int value = octal_value(text.substr(at)); value >= 0) {
      result += static_cast<char>(value);
      at += 2;
    } else {
      fail_at(range, "TorchScript has no escape '\\" + printable(std::string_view(&escaped, 1)) + "'",
              "write the character itself, or three octal digits behind a backslash");
    }
  }
  return result;
}

}  // namespace flambeau::script::syntax
