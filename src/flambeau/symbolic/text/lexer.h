// Words of the text forms of expressions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flambeau::symbolic {

enum class TokenKind : uint8_t { kEnd, kInteger, kFloat, kName, kString, kSign };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // of a string: what stands between the quotes, escapes included
  size_t position = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Throws Error(kCorrupt) at a byte that begins no word.
  Token next();

 private:
  Token take(TokenKind kind, size_t length);
  Token number();
  Token string();
  size_t end_of_source(size_t end) const;

  std::string_view text_;
  size_t position_ = 0;
};

// "'x'", "number 3", "end of text": how a message names a token.
std::string describe(const Token& token);

}  // namespace flambeau::symbolic
