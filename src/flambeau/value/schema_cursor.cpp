#include "flambeau/value/schema_cursor.h"

#include <fmt/format.h>

#include "flambeau/base/ascii.h"
#include "flambeau/value/schema.h"

namespace flambeau {
SchemaCursor::SchemaCursor(std::string_view text) : text_(text) {
  if (text.size() > kMostSchemaBytes) {
    throw Error(ErrorCode::kLimit, fmt::format("a schema has {} bytes; the most that is read is {}",
                                               text.size(), kMostSchemaBytes));
  }
}

void SchemaCursor::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
    ++at_;
  }
}

size_t SchemaCursor::offset() {
  skip_space();
  return at_;
}

bool SchemaCursor::at(char sign) {
  skip_space();
  return at_ < text_.size() && text_[at_] == sign;
}

bool SchemaCursor::at(std::string_view sign) {
  skip_space();
  if (!text_.substr(at_).starts_with(sign)) return false;
  const size_t end = at_ + sign.size();
  return !is_word(sign.back()) || end == text_.size() || !is_word(text_[end]);
}

bool SchemaCursor::at_identifier() {
  skip_space();
  return at_ < text_.size() && is_word_start(text_[at_]);
}

bool SchemaCursor::at_number() {
  skip_space();
  return at_ < text_.size() &&
         (is_digit(text_[at_]) || (text_[at_] == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])));
}

bool SchemaCursor::at_string() { return at('"') || at('\''); }

bool SchemaCursor::at_end() {
  skip_space();
  return at_ == text_.size();
}

bool SchemaCursor::take(char sign) {
  if (!at(sign)) return false;
  ++at_;
  return true;
}

bool SchemaCursor::take(std::string_view sign) {
  if (!at(sign)) return false;
  at_ += sign.size();
  return true;
}

void SchemaCursor::expect(char sign) { expect(std::string_view(&sign, 1)); }

void SchemaCursor::expect(std::string_view sign) {
  if (!take(sign)) fail_expected(fmt::format("'{}'", sign));
}

std::string_view SchemaCursor::identifier(std::string_view what) {
  if (!at_identifier()) fail_expected(what);
  const size_t start = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return text_since(start);
}

std::string_view SchemaCursor::number() {
  if (!at_number()) fail_expected("a number");
  const size_t start = at_;
  const auto skip_digits = [&] {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  skip_digits();
  if (at_ < text_.size() && text_[at_] == '.') ++at_;
  skip_digits();
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
    skip_digits();
  }
  if (at_ < text_.size() && text_[at_] == 'j') ++at_;
  return text_since(start);
}

std::string SchemaCursor::string() {
  if (!at_string()) fail_expected("a quoted string");
  const size_t start = at_;
  const char quote = text_[at_++];
  std::string value;
  while (true) {
    if (at_ == text_.size()) fail_at(start, "a string does not end");
    const char c = text_[at_++];
    if (c == quote) return value;
    value += c == '\\' ? escape() : c;
  }
}

char SchemaCursor::escape() {
  const size_t start = at_ - 1;
  const char c = at_ < text_.size() ? text_[at_++] : '\0';
  switch (c) {
    case '\\':
    case '\'':
    case '"':
      return c;
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      break;
  }
  // Three octal digits, of which `c` is the first.
  int code = 0;
  for (size_t i = start + 1; i < start + 4; ++i) {
    if (i >= text_.size() || text_[i] < '0' || text_[i] > '7')
      fail_at(start, "a string has an unknown escape");
    code = code * 8 + (text_[i] - '0');
  }
  if (code > 255) fail_at(start, "a string has an escape beyond one byte");
  at_ = start + 4;
  return static_cast<char>(code);
}

std::string SchemaCursor::found() {
  if (at_end()) return "the end of the text";
  size_t end = at_ + 1;
  if (is_word(text_[at_])) {
    while (end < text_.size() && is_word(text_[end])) ++end;
  }
  return fmt::format("'{}'", printable(text_.substr(at_, end - at_), 40));
}

void SchemaCursor::fail(std::string message) { fail_at(offset(), std::move(message)); }

void SchemaCursor::fail_expected(std::string_view what) {
  fail(fmt::format("expected {}, found {}", what, found()));
}

void SchemaCursor::fail_at(size_t offset, std::string message, ErrorCode code) {
  Error error(code, std::move(message));
  error.add_location("byte", std::to_string(offset));
  throw error;
}

}  // namespace flambeau
