#include "flambeau/symbolic/text/lexer.h"

#include <fmt/format.h>

#include "flambeau/base/ascii.h"
#include "flambeau/base/error.h"

namespace flambeau::symbolic {
namespace {

[[noreturn]] void fail(size_t position, std::string message) {
  throw Error(ErrorCode::kCorrupt, std::move(message)).add_location("byte", std::to_string(position));
}

}  // namespace

Token Lexer::take(TokenKind kind, size_t length) {
  const Token token{kind, text_.substr(position_, length), position_};
  position_ += length;
  return token;
}

Token Lexer::number() {
  size_t end = position_;
  bool is_float = false;
  const auto digits = [&] {
    while (end < text_.size() && is_digit(text_[end])) ++end;
  };
  digits();
  if (end < text_.size() && text_[end] == '.') {
    is_float = true;
    ++end;
    digits();
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (exponent < text_.size() && is_digit(text_[exponent])) {
      is_float = true;
      end = exponent;
      digits();
    }
  }
  return take(is_float ? TokenKind::kFloat : TokenKind::kInteger, end - position_);
}

Token Lexer::string() {
  const size_t start = position_;
  const char quote = text_[start];
  size_t end = start + 1;
  while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) fail(start, "a quoted name does not end");
  position_ = end + 1;
  return {TokenKind::kString, text_.substr(start + 1, end - start - 1), start};
}

// Guards of an exported program name a size by where it comes from: L['x'].size()[0].
size_t Lexer::end_of_source(size_t end) const {
  const size_t start = end;
  while (end < text_.size()) {
    if (text_[end] == '[') {
      const size_t close = text_.find(']', end);
      if (close == std::string_view::npos) fail(start, "a '[' is not closed");
      end = close + 1;
    } else if (text_[end] == '.' && end + 1 < text_.size() && is_word_start(text_[end + 1])) {
      for (++end; end < text_.size() && (is_word_start(text_[end]) || is_digit(text_[end]));) ++end;
      if (text_.substr(end).starts_with("()")) end += 2;
    } else {
      break;
    }
  }
  return end;
}

Token Lexer::next() {
  while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t' ||
                                      text_[position_] == '\n' || text_[position_] == '\r'))
    ++position_;
  if (position_ == text_.size()) return {TokenKind::kEnd, {}, position_};
  const char c = text_[position_];
  const char after = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
  if (is_digit(c) || (c == '.' && is_digit(after))) return number();
  if (c == '\'' || c == '"') return string();
  if (is_word_start(c)) {
    size_t end = position_;
    // A dot joins what Python prints for a module's function: math.floor.
    while (end < text_.size() &&
           (is_word_start(text_[end]) || is_digit(text_[end]) ||
            (text_[end] == '.' && end + 1 < text_.size() && is_word_start(text_[end + 1]))))
      ++end;
    if (end < text_.size() && text_[end] == '[') end = end_of_source(end);
    return take(TokenKind::kName, end - position_);
  }
  for (const std::string_view sign : {"**", "//", "==", "!=", "<=", ">=", "<<", ">>"})
    if (text_.substr(position_).starts_with(sign)) return take(TokenKind::kSign, 2);
  if (std::string_view("+-*/%()<>,=&|^~").find(c) != std::string_view::npos) return take(TokenKind::kSign, 1);
  fail(position_, fmt::format("expected an expression, found '{}'", printable(text_.substr(position_, 1))));
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return fmt::format("number {}", printable(token.text, 40));
    case TokenKind::kString:
      return fmt::format("the quoted text '{}'", printable(token.text, 40));
    default:
      return fmt::format("'{}'", printable(token.text, 40));
  }
}

}  // namespace flambeau::symbolic
