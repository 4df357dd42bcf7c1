#include "flambeau/archive/json/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "flambeau/base/ascii.h"
#include "flambeau/base/utf8.h"

namespace flambeau::json {
namespace {

void append_utf8(std::string& to, uint32_t code) {
  if (code < 0x80) {
    to += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    to += static_cast<char>(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      to += static_cast<char>(0xe0 | code >> 12);
    } else {
      to += static_cast<char>(0xf0 | code >> 18);
      to += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    }
    to += static_cast<char>(0x80 | (code >> 6 & 0x3f));
  }
  to += static_cast<char>(0x80 | (code & 0x3f));
}

// What stands for itself in a string.
bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

// Of a number that no double is near to: whether it is huge, not tiny. The first nonzero digit's place
// decides, since the two cases are hundreds of places apart.
bool overflows(std::string_view digits) {
  const size_t e = digits.find_first_of("eE");
  const std::string_view mantissa = digits.substr(0, e);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const double place = static_cast<double>(point) - static_cast<double>(first);
  double exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view power = digits.substr(e + 1);
    if (power.front() == '+') power.remove_prefix(1);
    int64_t value = 0;
    const auto error = std::from_chars(power.data(), power.data() + power.size(), value).ec;
    exponent = error == std::errc() ? static_cast<double>(value) : power.front() == '-' ? -1e300 : 1e300;
  }
  return place + exponent > 0;
}

}  // namespace

Cursor::Cursor(std::string_view text) : text_(text) {
  skip_space();
  if (at_ == text_.size()) fail("the text is empty, a JSON value was expected");
}

void Cursor::finish() {
  skip_space();
  if (at_ != text_.size()) fail(fmt::format("{} after the end of the JSON value", here()));
}

void Cursor::fail_at(size_t offset, std::string message, ErrorCode code) const {
  throw Error(code, std::move(message)).add_location("byte", std::to_string(offset));
}

// What stands at the cursor, for messages.
std::string Cursor::here() const {
  if (at_ >= text_.size()) return "the end of the text";
  const size_t length = std::max<size_t>(utf8_sequence_length(text_.substr(at_)), 1);
  return fmt::format("'{}'", printable(text_.substr(at_, length)));
}

bool Cursor::take_word(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

void Cursor::skip_space() {
  while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r'))) {
    if (text_[at_] == '\v' || text_[at_] == '\f') return;
    ++at_;
  }
}

void Cursor::enter() {
  if (depth_ == kMostDepth) {
    fail_at(at_, fmt::format("JSON nested deeper than {} levels", kMostDepth), ErrorCode::kLimit);
  }
  ++depth_;
  ++at_;
  skip_space();
}

bool Cursor::leave_empty(char close) { return take(close); }

std::string Cursor::key() {
  if (!peek('"')) fail(fmt::format("expected a key in quotes, found {}", here()));
  std::string key = string();
  skip_space();
  if (!take(':')) fail(fmt::format("expected ':' after a key, found {}", here()));
  skip_space();
  return key;
}

bool Cursor::another(char close, std::string_view what) {
  skip_space();
  if (take(close)) return false;
  if (!take(',')) fail(fmt::format("expected ',' or '{}' in {}, found {}", close, what, here()));
  skip_space();
  return true;
}

Value Cursor::scalar() {
  if (peek('"')) return string();
  if (take_word("true")) return true;
  if (take_word("false")) return false;
  if (take_word("null")) return nullptr;
  if (take_word("NaN")) return std::numeric_limits<double>::quiet_NaN();
  if (take_word("Infinity")) return std::numeric_limits<double>::infinity();
  if (take_word("-Infinity")) return -std::numeric_limits<double>::infinity();
  if (at_ < text_.size() && (text_[at_] == '-' || is_digit(text_[at_]))) return number();
  fail(fmt::format("expected a JSON value, found {}", here()));
}

Value Cursor::shallow() {
  if (at_object()) {
    object([this](const std::string&) { shallow(); });
    return Object();
  }
  if (at_array()) {
    array([this] { shallow(); });
    return Array();
  }
  return scalar();
}

std::string Cursor::string() {
  const size_t start = at_++;
  std::string result;
  for (;;) {
    const size_t plain = at_;
    while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
    result += text_.substr(plain, at_ - plain);
    if (at_ == text_.size()) fail_at(start, "a string has no closing quote");
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return result;
    }
    if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string is not escaped");
    if (c == '\\') {
      escape(result);
      continue;
    }
    const size_t length = utf8_sequence_length(text_.substr(at_));
    if (length == 0) fail("a string is not valid UTF-8");
    result += text_.substr(at_, length);
    at_ += length;
  }
}

void Cursor::escape(std::string& to) {
  const size_t start = at_++;
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const size_t index = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
  if (index != std::string_view::npos) {
    to += kMeanings[index];
    ++at_;
    return;
  }
  if (!take('u')) fail_at(start, "a string has an unknown escape");
  uint32_t code = four_digits(start);
  if (code >= 0xd800 && code < 0xdc00 && take_word("\\u")) {
    const uint32_t low = four_digits(start);
    if (low < 0xdc00 || low > 0xdfff) fail_at(start, "a string has half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code >= 0xd800 && code <= 0xdfff) fail_at(start, "a string has half of a surrogate pair");
  append_utf8(to, code);
}

uint32_t Cursor::four_digits(size_t start) {
  const std::string_view digits = text_.substr(at_, 4);
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || end != digits.data() + 4) fail_at(start, "\\u needs four hexadecimal digits");
  at_ += 4;
  return code;
}

Value Cursor::number() {
  const size_t start = at_;
  const bool is_negative = take('-');
  if (at_ == text_.size() || !is_digit(text_[at_])) fail_at(start, "a number has no digits");
  const bool leads_with_zero = take('0');
  if (leads_with_zero && at_ < text_.size() && is_digit(text_[at_])) {
    fail_at(start, "a number starts with a superfluous zero");
  }
  skip_digits();
  bool is_integer = true;
  if (take('.')) {
    is_integer = false;
    need_digits(start, "point");
  }
  if (take('e') || take('E')) {
    is_integer = false;
    if (!take('+')) take('-');
    need_digits(start, "exponent");
  }
  const std::string_view digits = text_.substr(start, at_ - start);
  const char* first = digits.data();
  const char* last = first + digits.size();
  if (is_integer) {
    int64_t value = 0;
    if (std::from_chars(first, last, value).ec == std::errc()) return value;
    uint64_t large = 0;
    if (!is_negative && std::from_chars(first, last, large).ec == std::errc()) return large;
    fail_at(start, fmt::format("the integer {} does not fit in 64 bits", printable(digits, 40)));
  }
  double value = 0;
  if (std::from_chars(first, last, value).ec == std::errc()) return value;
  // from_chars says the same of numbers too small; those are zero.
  if (!overflows(digits)) return is_negative ? -0.0 : 0.0;
  fail_at(start, fmt::format("the number {} is too large", printable(digits, 40)));
}

void Cursor::skip_digits() {
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
}
void Cursor::need_digits(size_t start, std::string_view after) {
  const size_t before = at_;
  skip_digits();
  if (at_ == before) fail_at(start, fmt::format("a number has no digits after its {}", after));
}

}  // namespace flambeau::json
