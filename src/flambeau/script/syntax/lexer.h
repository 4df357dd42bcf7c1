// Text to tokens, as Python's lexer does it, with the few differences that TorchScript has.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/script/source.h"

namespace flambeau::script::syntax {

class Diagnostics;

enum class TokenKind : uint8_t {
  kEnd,
  kNewline,
  kIndent,
  kDedent,
  kName,
  kNumber,
  kString,
  kFormatString,  // f"..."
  kTypeComment,   // "# type:", whose rest is tokens
  // Words.
  kAnd,
  kAs,
  kAssert,
  kBreak,
  kClass,
  kContinue,
  kDef,
  kDel,
  kElif,
  kElse,
  kEllipsis,
  kFalse,
  kFor,
  kGlobal,
  kIf,
  kImport,
  kIn,
  kIs,
  kIsNot,
  kNone,
  kNoneType,
  kNot,
  kNotIn,
  kOr,
  kPass,
  kRaise,
  kReturn,
  kTrue,
  kWhile,
  kWith,
  // Signs.
  kPlus,
  kMinus,
  kStar,
  kSlash,
  kDoubleSlash,
  kPercent,
  kAt,
  kDoubleStar,
  kPipe,
  kCaret,
  kAmpersand,
  kTilde,
  kShiftLeft,
  kShiftRight,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kEqualEqual,
  kNotEqual,
  kOpenParenthesis,
  kCloseParenthesis,
  kOpenBracket,
  kCloseBracket,
  kOpenBrace,
  kCloseBrace,
  kColon,
  kComma,
  kDot,
  kDots,
  kArrow,
  kEqual,
  kPlusEqual,
  kMinusEqual,
  kStarEqual,
  kSlashEqual,
  kPercentEqual,
  kPipeEqual,
  kAmpersandEqual,
  kCaretEqual,
  kShiftLeftEqual,
  kShiftRightEqual,
  kDoubleStarEqual,
};
// "a name", "')'", "'if'": for messages.
std::string token_name(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint32_t start = 0;
  uint32_t end = 0;
};

// All tokens of a text; the last one is kEnd, and every line that has something ends with kNewline. Throws
// Error(kCorrupt) that shows the place; with `errors`, adds it there and goes on.
std::vector<Token> lex(const std::shared_ptr<const Source>& source, Diagnostics* errors = nullptr);
// Those of the bytes `start` to `end` alone.
std::vector<Token> lex(const std::shared_ptr<const Source>& source, size_t start, size_t end);

}  // namespace flambeau::script::syntax
