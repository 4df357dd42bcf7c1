#include "flambeau/script/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <span>

#include "flambeau/base/ascii.h"
#include "flambeau/script/syntax/diagnostics.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::syntax {
namespace {

struct Spelling {
  std::string_view text;
  TokenKind kind;
};

constexpr auto kWords = std::to_array<Spelling>({
    {"and", TokenKind::kAnd},
    {"as", TokenKind::kAs},
    {"assert", TokenKind::kAssert},
    {"break", TokenKind::kBreak},
    {"class", TokenKind::kClass},
    {"continue", TokenKind::kContinue},
    {"def", TokenKind::kDef},
    {"del", TokenKind::kDel},
    {"elif", TokenKind::kElif},
    {"else", TokenKind::kElse},
    {"Ellipsis", TokenKind::kEllipsis},
    {"False", TokenKind::kFalse},
    {"for", TokenKind::kFor},
    {"global", TokenKind::kGlobal},
    {"if", TokenKind::kIf},
    {"import", TokenKind::kImport},
    {"in", TokenKind::kIn},
    {"is", TokenKind::kIs},
    {"None", TokenKind::kNone},
    {"NoneType", TokenKind::kNoneType},
    {"not", TokenKind::kNot},
    {"or", TokenKind::kOr},
    {"pass", TokenKind::kPass},
    {"raise", TokenKind::kRaise},
    {"return", TokenKind::kReturn},
    {"True", TokenKind::kTrue},
    {"while", TokenKind::kWhile},
    {"with", TokenKind::kWith},
});

// Longer ones first.
constexpr auto kSigns = std::to_array<Spelling>({
    {"**=", TokenKind::kDoubleStarEqual},
    {"<<=", TokenKind::kShiftLeftEqual},
    {">>=", TokenKind::kShiftRightEqual},
    {"...", TokenKind::kDots},
    {"//", TokenKind::kDoubleSlash},
    {"**", TokenKind::kDoubleStar},
    {"<<", TokenKind::kShiftLeft},
    {">>", TokenKind::kShiftRight},
    {"<=", TokenKind::kLessEqual},
    {">=", TokenKind::kGreaterEqual},
    {"==", TokenKind::kEqualEqual},
    {"!=", TokenKind::kNotEqual},
    {"->", TokenKind::kArrow},
    {"+=", TokenKind::kPlusEqual},
    {"-=", TokenKind::kMinusEqual},
    {"*=", TokenKind::kStarEqual},
    {"/=", TokenKind::kSlashEqual},
    {"%=", TokenKind::kPercentEqual},
    {"|=", TokenKind::kPipeEqual},
    {"&=", TokenKind::kAmpersandEqual},
    {"^=", TokenKind::kCaretEqual},
    {"+", TokenKind::kPlus},
    {"-", TokenKind::kMinus},
    {"*", TokenKind::kStar},
    {"/", TokenKind::kSlash},
    {"%", TokenKind::kPercent},
    {"@", TokenKind::kAt},
    {"|", TokenKind::kPipe},
    {"^", TokenKind::kCaret},
    {"&", TokenKind::kAmpersand},
    {"~", TokenKind::kTilde},
    {"<", TokenKind::kLess},
    {">", TokenKind::kGreater},
    {"(", TokenKind::kOpenParenthesis},
    {")", TokenKind::kCloseParenthesis},
    {"[", TokenKind::kOpenBracket},
    {"]", TokenKind::kCloseBracket},
    {"{", TokenKind::kOpenBrace},
    {"}", TokenKind::kCloseBrace},
    {":", TokenKind::kColon},
    {",", TokenKind::kComma},
    {".", TokenKind::kDot},
    {"=", TokenKind::kEqual},
});

constexpr std::string_view kTypeComment = "# type:";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Lexer {
 public:
  Lexer(const std::shared_ptr<const Source>& source, size_t start, size_t end, Diagnostics* errors)
      : source_(source),
        text_(std::string_view(source->text()).substr(0, end)),
        at_(start),
        errors_(errors) {}

  std::vector<Token> run() {
    begin_line();
    indents_.push_back(indent_);
    while (true) {
      skip_blanks();
      if (at_ >= text_.size()) break;
      if (text_[at_] == '\n') {
        ++at_;
        if (errors_ != nullptr && !open_.empty() && begins_statement()) close_brackets();
        if (open_.empty()) end_line();
      } else {
        lex_one();
      }
    }
    if (errors_ != nullptr && !open_.empty()) close_brackets();
    // The last line of an expression need not end.
    if (open_.empty() && !tokens_.empty() && !is_line_end(tokens_.back().kind))
      add(TokenKind::kNewline, at_, at_);
    while (indents_.size() > 1) {
      indents_.pop_back();
      add(TokenKind::kDedent, at_, at_);
    }
    add(TokenKind::kEnd, at_, at_);
    return std::move(tokens_);
  }

 private:
  static bool is_line_end(TokenKind kind) {
    return kind == TokenKind::kNewline || kind == TokenKind::kDedent;
  }
  void add(TokenKind kind, size_t start, size_t end) {
    tokens_.push_back({kind, static_cast<uint32_t>(start), static_cast<uint32_t>(end)});
  }
  // Returns where errors are gathered.
  void fail(size_t start, size_t end, std::string message, std::string remedy = {}) {
    const SourceRange place{source_, static_cast<uint32_t>(start), static_cast<uint32_t>(end)};
    if (errors_ == nullptr) fail_at(place, std::move(message), std::move(remedy));
    errors_->add(PlacedError(ErrorCode::kCorrupt, message, std::move(remedy), place));
  }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts(std::string_view with) const { return text_.substr(at_, with.size()) == with; }

  // Blanks, comments and continued lines.
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (text_[at_] == '#' && !starts(kTypeComment)) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_[at_] == '\\' && starts("\\\n")) {
        at_ += 2;
      } else {
        return;
      }
    }
  }

  // Goes to the first line that has something; indent_ becomes how far it is indented.
  void begin_line() {
    while (true) {
      line_start_ = at_;
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      indent_ = at_ - line_start_;
      if (at_ < text_.size() && text_[at_] == '#' && !starts(kTypeComment)) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      }
      if (at_ >= text_.size() || text_[at_] != '\n') return;
      ++at_;
    }
  }

  void end_line() {
    begin_line();
    if (tokens_.empty()) return;
    // What stands before the end of the text is no indentation.
    if (at_ >= text_.size()) indent_ = indents_.front();
    const size_t end = line_start_ + indent_;
    if (indent_ > indents_.back()) {
      if (indents_.size() > kMostIndents)
        fail(line_start_, end, "this is indented more often than a script may be");
      indents_.push_back(indent_);
      return add(TokenKind::kIndent, line_start_, end);
    }
    add(TokenKind::kNewline, line_start_, std::max(end, line_start_));
    while (indents_.back() != indent_) {
      indents_.pop_back();
      if (indents_.empty() || indents_.back() < indent_) {
        // As if it was indented like the line before.
        indents_.push_back(indent_);
        return fail(line_start_, end,
                    "this line is indented by " + std::to_string(indent_) + ", as no line around it is",
                    "indent it like the block it belongs to");
      }
      add(TokenKind::kDedent, line_start_, end);
    }
  }

  // Whether the next line begins with a word that no expression goes on with.
  bool begins_statement() const {
    size_t at = at_;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    for (const std::string_view word : {"def", "class", "return", "while", "with", "assert", "raise", "del",
                                        "pass", "break", "continue", "elif", "import"}) {
      if (text_.substr(at, word.size()) == word &&
          (at + word.size() >= text_.size() || !is_word(text_[at + word.size()]))) {
        return true;
      }
    }
    return false;
  }
  void close_brackets() {
    const size_t place = open_.back();
    fail(place, place + 1, "this '" + std::string(1, text_[place]) + "' is never closed",
         "close it before the next statement");
    // As if they were closed here.
    for (; !open_.empty(); open_.pop_back()) {
      const char bracket = text_[open_.back()];
      add(bracket == '('   ? TokenKind::kCloseParenthesis
          : bracket == '[' ? TokenKind::kCloseBracket
                           : TokenKind::kCloseBrace,
          at_, at_);
    }
  }

  void lex_one() {
    const size_t start = at_;
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return lex_number();
    if (c == '"' || c == '\'') return lex_string(start, TokenKind::kString);
    if (c == 'f' && (peek(1) == '"' || peek(1) == '\'')) {
      ++at_;
      return lex_string(start, TokenKind::kFormatString);
    }
    if (is_word_start(c)) return lex_word();
    if (c == '#' && starts(kTypeComment)) {
      at_ += kTypeComment.size();
      return add(TokenKind::kTypeComment, start, at_);
    }
    for (const Spelling& sign : kSigns) {
      if (sign.text.front() != c || !starts(sign.text)) continue;
      at_ += sign.text.size();
      if (sign.kind == TokenKind::kOpenParenthesis || sign.kind == TokenKind::kOpenBracket ||
          sign.kind == TokenKind::kOpenBrace) {
        open_.push_back(start);
      } else if (!open_.empty() &&
                 (sign.kind == TokenKind::kCloseParenthesis || sign.kind == TokenKind::kCloseBracket ||
                  sign.kind == TokenKind::kCloseBrace)) {
        open_.pop_back();
      }
      return add(sign.kind, start, at_);
    }
    at_ += 1;
    while (at_ < text_.size() && (static_cast<uint8_t>(text_[at_]) & 0xc0) == 0x80) ++at_;
    const std::string_view found = text_.substr(start, at_ - start);
    fail(start, at_, "'" + printable(found) + "' begins no word, number or sign of TorchScript",
         found == ";"   ? "write each statement on a line of its own"
         : found == "!" ? "write 'not', or '!=' to compare"
                        : "");
  }

  // What C's strtod takes, but no sign, and a j behind.
  void lex_number() {
    const size_t start = at_;
    const bool is_hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && is_hexadecimal(peek(2));
    const auto skip_digits = [&] {
      while (is_hex ? is_hexadecimal(peek()) : is_digit(peek())) ++at_;
    };
    if (is_hex) at_ += 2;
    skip_digits();
    if (peek() == '.') {
      ++at_;
      skip_digits();
    }
    const char exponent = is_hex ? 'p' : 'e';
    if ((peek() | 0x20) == exponent) {
      const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        at_ += 1 + sign;
        while (is_digit(peek())) ++at_;
      }
    }
    if (peek() == 'j') ++at_;
    add(TokenKind::kNumber, start, at_);
  }

  void lex_string(size_t start, TokenKind kind) {
    const char quote = text_[at_];
    const bool is_long = peek(1) == quote && peek(2) == quote;
    const size_t width = is_long ? 3 : 1;
    at_ += width;
    while (at_ < text_.size()) {
      if (text_[at_] == quote && (!is_long || (peek(1) == quote && peek(2) == quote))) {
        at_ += width;
        return add(kind, start, at_);
      }
      if (text_[at_] == '\n' && !is_long) break;
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_, text_.size());
    add(TokenKind::kNone, start, start);
    fail(start, std::min(start + width, text_.size()), "this string has no end",
         "close it with the quote it begins with");
  }

  void lex_word() {
    const size_t start = at_;
    while (is_word(peek())) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    const auto* found = std::find_if(kWords.begin(), kWords.end(), [&](const Spelling& s) {
      return s.text.front() == word.front() && s.text == word;
    });
    TokenKind kind = found == kWords.end() ? TokenKind::kName : found->kind;
    if (kind == TokenKind::kIs && takes(" not")) kind = TokenKind::kIsNot;
    if (kind == TokenKind::kNot && takes(" in")) kind = TokenKind::kNotIn;
    add(kind, start, at_);
  }
  bool takes(std::string_view word) {
    if (!starts(word) || is_word(peek(word.size()))) return false;
    at_ += word.size();
    return true;
  }

  static constexpr size_t kMostIndents = 400;
  const std::shared_ptr<const Source>& source_;
  std::string_view text_;
  size_t at_;
  size_t line_start_ = 0;
  size_t indent_ = 0;
  std::vector<size_t> open_;  // where brackets are that are not closed yet
  Diagnostics* errors_;
  std::vector<size_t> indents_;
  std::vector<Token> tokens_;
};

}  // namespace

std::string token_name(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kIndent:
      return "an indented line";
    case TokenKind::kDedent:
      return "the end of a block";
    case TokenKind::kName:
      return "a name";
    case TokenKind::kNumber:
      return "a number";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kFormatString:
      return "a format string";
    case TokenKind::kTypeComment:
      return "a type comment";
    case TokenKind::kIsNot:
      return "'is not'";
    case TokenKind::kNotIn:
      return "'not in'";
    default:
      break;
  }
  for (const auto& table : {std::span<const Spelling>(kWords), std::span<const Spelling>(kSigns)}) {
    for (const Spelling& spelling : table) {
      if (spelling.kind == kind) return "'" + std::string(spelling.text) + "'";
    }
  }
  return "nothing";
}

std::vector<Token> lex(const std::shared_ptr<const Source>& source, Diagnostics* errors) {
  return Lexer(source, 0, source->text().size(), errors).run();
}

std::vector<Token> lex(const std::shared_ptr<const Source>& source, size_t start, size_t end) {
  return Lexer(source, start, end, nullptr).run();
}

}  // namespace flambeau::script::syntax
