#include "flambeau/graph/text/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "flambeau/base/ascii.h"
#include "flambeau/base/utf8.h"

namespace flambeau::graph {
namespace {

// Encoded surrogates too, which strings of files may hold.
void append_utf8(std::string& to, uint32_t code) {
  const auto put = [&](uint32_t byte) { to += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

}  // namespace

std::string TextPlace::to_string() const { return fmt::format("{}, column {}", line, column); }

void fail_at(TextPlace place, std::string message, std::string remedy) {
  at_place(place, [&] { throw Error(ErrorCode::kCorrupt, std::move(message), std::move(remedy)); });
  throw Error(ErrorCode::kInternal, "an error was lost");
}

void TextScanner::next_line() {
  while (!text_.empty()) {
    const size_t end = std::min(text_.find('\n'), text_.size());
    line_ = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++number_;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    column_ = 0;
    skip_spaces();
    indent_ = column_;
    const bool is_comment = starts_with("#") && !starts_with("#|");
    if (is_comment) {
      last_comment_ = rest();
    } else if (column_ < line_.size()) {
      return;
    }
  }
  at_end_ = true;
  line_ = {};
  column_ = indent_ = 0;
}

TextPlace TextScanner::place() {
  skip_spaces();
  return {std::max(number_, 1U), static_cast<uint32_t>(column_ + 1)};
}

void TextScanner::fail(std::string message, std::string remedy) {
  fail_at(place(), std::move(message), std::move(remedy));
}

void TextScanner::fail_expected(std::string_view what) {
  skip_spaces();
  if (at_end_) fail(fmt::format("expected {}, found the end of the text", what));
  if (rest().empty()) fail(fmt::format("expected {}, found the end of the line", what));
  fail(fmt::format("expected {}, found '{}'", what, printable(rest(), 40)));
}

bool TextScanner::at_line_end() {
  skip_spaces();
  return column_ == line_.size();
}

bool TextScanner::accept(std::string_view token) {
  skip_spaces();
  if (!rest().starts_with(token)) return false;
  const size_t end = column_ + token.size();
  if (is_word(token.back()) && end < line_.size() && is_word(line_[end])) return false;
  column_ = end;
  return true;
}

void TextScanner::expect(std::string_view token) {
  if (!accept(token)) fail_expected(fmt::format("'{}'", token));
}

void TextScanner::expect_line_end() {
  if (!at_line_end()) fail_expected("the end of the line");
}

char TextScanner::peek() {
  skip_spaces();
  return column_ < line_.size() ? line_[column_] : '\0';
}

std::string_view TextScanner::peek_word() {
  skip_spaces();
  if (column_ == line_.size() || is_digit(line_[column_])) return {};
  size_t end = column_;
  while (end < line_.size() && is_word(line_[end])) ++end;
  return line_.substr(column_, end - column_);
}

std::string_view TextScanner::word(std::string_view what) {
  const std::string_view found = peek_word();
  if (found.empty()) fail_expected(what);
  column_ += found.size();
  return found;
}

std::string TextScanner::name(std::string_view what) {
  if (peek() != '%') return std::string(word(what));
  ++column_;
  return string(what);
}

std::string_view TextScanner::dotted_name(std::string_view what) {
  const size_t start = (skip_spaces(), column_);
  word(what);
  while (column_ < line_.size() && line_[column_] == '.') {
    ++column_;
    if (column_ == line_.size() || !is_word(line_[column_])) fail_expected("a name behind the point");
    while (column_ < line_.size() && is_word(line_[column_])) ++column_;
  }
  return line_.substr(start, column_ - start);
}

void TextScanner::append_escape(std::string& to) {
  const char c = column_ < line_.size() ? line_[column_] : '\0';
  size_t digits = 0;
  switch (c) {
    case 'n':
      to += '\n';
      break;
    case 't':
      to += '\t';
      break;
    case 'r':
      to += '\r';
      break;
    case '\\':
    case '\'':
    case '"':
      to += c;
      break;
    case 'x':
      digits = 2;
      break;
    case 'u':
      digits = 4;
      break;
    case 'U':
      digits = 8;
      break;
    default:
      fail_expected("one of n, t, r, x, u, U, a quote or a backslash behind a backslash");
  }
  ++column_;
  if (digits == 0) return;
  uint32_t code = 0;
  const std::string_view hex = rest().substr(0, digits);
  const auto [end, status] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
  if (hex.size() != digits || status != std::errc() || end != hex.data() + digits || code > 0x10ffff) {
    fail_expected(fmt::format("{} hexadecimal digits of a character", digits));
  }
  column_ += digits;
  append_utf8(to, code);
}

std::string TextScanner::string(std::string_view what) {
  const char quote = peek();
  if (quote != '\'' && quote != '"') fail_expected(what);
  const TextPlace start = place();
  ++column_;
  std::string out;
  while (true) {
    const size_t stop = line_.find_first_of(quote == '"' ? "\"\\" : "'\\", column_);
    if (stop == std::string_view::npos) fail_at(start, "the string has no end in this line");
    out += line_.substr(column_, stop - column_);
    column_ = stop + 1;
    if (line_[stop] == quote) return out;
    append_escape(out);
  }
}

std::string_view TextScanner::number_text() {
  skip_spaces();
  size_t end = column_;
  if (end < line_.size() && (line_[end] == '-' || line_[end] == '+')) ++end;
  while (end < line_.size()) {
    const char c = line_[end];
    const bool is_sign = (c == '-' || c == '+') && (line_[end - 1] == 'e' || line_[end - 1] == 'E');
    if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !is_sign) break;
    ++end;
  }
  const std::string_view found = line_.substr(column_, end - column_);
  column_ = end;
  return found;
}

int64_t TextScanner::integer(std::string_view what) {
  const TextPlace start = place();
  std::string_view digits = number_text();
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc::result_out_of_range) {
    fail_at(start, fmt::format("{} is beyond 64 bits", printable(digits)));
  }
  if (status != std::errc() || end != digits.data() + digits.size()) {
    fail_at(start, fmt::format("expected {}, found '{}'", what, printable(digits)));
  }
  return value;
}

}  // namespace flambeau::graph
