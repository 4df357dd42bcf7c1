#include <algorithm>
#include <optional>

#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/syntax/literals.h"
#include "flambeau/script/syntax/parser.h"
#include "flambeau/script/syntax/parser_state.h"

namespace flambeau::script::syntax {
namespace {

// How close operators bind, loosest first. `if` is 1, `not` 4.
constexpr int kBindsNot = 4;
constexpr int kBindsComparison = 5;
constexpr int kBindsUnary = 12;
constexpr int kBindsPower = 13;

struct BinaryOperator {
  Kind kind;
  int binds;
};

std::optional<BinaryOperator> binary_operator(TokenKind token) {
  switch (token) {
    case TokenKind::kOr:
      return BinaryOperator{Kind::kOr, 2};
    case TokenKind::kAnd:
      return BinaryOperator{Kind::kAnd, 3};
    case TokenKind::kPipe:
      return BinaryOperator{Kind::kBitOr, 6};
    case TokenKind::kCaret:
      return BinaryOperator{Kind::kBitXor, 7};
    case TokenKind::kAmpersand:
      return BinaryOperator{Kind::kBitAnd, 8};
    case TokenKind::kShiftLeft:
      return BinaryOperator{Kind::kShiftLeft, 9};
    case TokenKind::kShiftRight:
      return BinaryOperator{Kind::kShiftRight, 9};
    case TokenKind::kPlus:
      return BinaryOperator{Kind::kAdd, 10};
    case TokenKind::kMinus:
      return BinaryOperator{Kind::kSubtract, 10};
    case TokenKind::kStar:
      return BinaryOperator{Kind::kMultiply, 11};
    case TokenKind::kSlash:
      return BinaryOperator{Kind::kDivide, 11};
    case TokenKind::kDoubleSlash:
      return BinaryOperator{Kind::kFloorDivide, 11};
    case TokenKind::kPercent:
      return BinaryOperator{Kind::kModulo, 11};
    case TokenKind::kAt:
      return BinaryOperator{Kind::kMatrixMultiply, 11};
    case TokenKind::kDoubleStar:
      return BinaryOperator{Kind::kPower, kBindsPower};
    default:
      return std::nullopt;
  }
}

std::optional<Kind> comparison_operator(TokenKind token) {
  switch (token) {
    case TokenKind::kLess:
      return Kind::kLess;
    case TokenKind::kGreater:
      return Kind::kGreater;
    case TokenKind::kLessEqual:
      return Kind::kLessEqual;
    case TokenKind::kGreaterEqual:
      return Kind::kGreaterEqual;
    case TokenKind::kEqualEqual:
      return Kind::kEqual;
    case TokenKind::kNotEqual:
      return Kind::kNotEqual;
    case TokenKind::kIs:
      return Kind::kIs;
    case TokenKind::kIsNot:
      return Kind::kIsNot;
    case TokenKind::kIn:
    case TokenKind::kNotIn:
      return Kind::kIn;
    default:
      return std::nullopt;
  }
}

// What may stand behind the last comma of a tuple.
bool ends_tuple(TokenKind kind) {
  return kind == TokenKind::kNewline || kind == TokenKind::kEqual || kind == TokenKind::kCloseParenthesis ||
         kind == TokenKind::kEnd || (kind >= TokenKind::kPlusEqual && kind <= TokenKind::kDoubleStarEqual);
}

}  // namespace

const Node* Parser::expression_or_tuple() {
  const Node* first = expression();
  if (!at(TokenKind::kComma)) return first;
  Nodes items{first};
  while (take_if(TokenKind::kComma)) {
    if (ends_tuple(current().kind)) break;
    items.push_back(expression());
  }
  return &make_at(Kind::kTuple, *first, std::move(items));
}

const Node* Parser::expression(int above) {
  const Level level(*this);
  const Node* left = operand();
  while (true) {
    const Token sign = current();
    if (sign.kind == TokenKind::kIf && above < 1) {
      take();
      const Node* condition = expression(1);
      expect(TokenKind::kElse);
      const Node* otherwise = expression();
      left = &make(Kind::kConditional, sign, Nodes{condition, left, otherwise});
    } else if (comparison_operator(sign.kind)) {
      if (kBindsComparison <= above) return left;
      left = comparison(left, kBindsComparison);
    } else if (const auto found = binary_operator(sign.kind); found && found->binds > above) {
      take();
      // A power's right side may have a sign, and binds to the right.
      const Node* right = expression(found->kind == Kind::kPower ? kBindsUnary : found->binds);
      left = &make(found->kind, sign, Nodes{left, right});
    } else {
      return left;
    }
  }
}

// a < b < c is a < b and b < c.
const Node* Parser::comparison(const Node* left, int binds) {
  const Node* all = nullptr;
  while (const auto kind = comparison_operator(current().kind)) {
    const Token sign = take();
    const Node* right = expression(binds);
    const Node* one = &make(*kind, sign, Nodes{left, right});
    if (sign.kind == TokenKind::kNotIn) one = &make(Kind::kNot, sign, Nodes{one});
    all = all == nullptr ? one : &make(Kind::kAnd, sign, Nodes{all, one});
    left = right;
  }
  return all;
}

const Node* Parser::operand() {
  switch (current().kind) {
    case TokenKind::kNot:
      return unary(Kind::kNot, kBindsNot);
    case TokenKind::kTilde:
      return unary(Kind::kInvert, kBindsUnary);
    case TokenKind::kMinus:
      return unary(Kind::kNegate, kBindsUnary);
    case TokenKind::kStar:
      return unary(Kind::kStarred, kBindsComparison);
    default:
      return primary();
  }
}

const Node* Parser::unary(Kind kind, int binds) {
  const Token sign = take();
  const Node* value = expression(binds);
  // A number has its sign in its text, so that -9223372036854775808 can be said.
  if (kind == Kind::kNegate && value->is(Kind::kNumber) && !value->text.starts_with('-')) {
    return &make_at(Kind::kNumber, *value, Nodes{}, "-" + value->text);
  }
  return &make(kind, sign, Nodes{value});
}

const Node* Parser::primary() {
  const Node* value = atom();
  while (true) {
    if (take_if(TokenKind::kDot)) {
      const Token name = expect(TokenKind::kName);
      value = &make(Kind::kSelect, name, Nodes{value}, std::string(text(name)));
    } else if (at(TokenKind::kOpenParenthesis)) {
      value = call(value);
    } else if (at(TokenKind::kOpenBracket)) {
      value = subscript(value);
    } else {
      return value;
    }
  }
}

const Node* Parser::atom() {
  const Token token = current();
  const auto plain = [&](Kind kind) {
    take();
    return &make(kind, token);
  };
  switch (token.kind) {
    case TokenKind::kNumber:
      take();
      return &make(Kind::kNumber, token, Nodes{}, std::string(text(token)));
    case TokenKind::kTrue:
      return plain(Kind::kTrue);
    case TokenKind::kFalse:
      return plain(Kind::kFalse);
    case TokenKind::kNone:
      return plain(Kind::kNone);
    case TokenKind::kNoneType:
      return plain(Kind::kNoneType);
    case TokenKind::kDots:
    case TokenKind::kEllipsis:
      return plain(Kind::kDots);
    case TokenKind::kString:
    case TokenKind::kFormatString:
      return strings();
    case TokenKind::kOpenParenthesis:
      return parenthesized();
    case TokenKind::kOpenBracket:
      return list();
    case TokenKind::kOpenBrace:
      return dict();
    case TokenKind::kName:
      if (errors_ != nullptr && text(token) == "lambda" && ahead().kind != TokenKind::kEqual)
        fail(token, "TorchScript has no 'lambda'", "write a function with 'def'");
      take();
      return &make(Kind::kName, token, Nodes{}, std::string(text(token)));
    default:
      fail(token, "expected an expression, found " + token_name(token.kind));
  }
}

const Node* Parser::parenthesized() {
  take();
  const Token first = current();
  if (take_if(TokenKind::kCloseParenthesis)) return &make(Kind::kTuple, current());
  const Node* inner = expression_or_tuple();
  if (at(TokenKind::kFor)) inner = comprehension(inner, nullptr);
  if (!at(TokenKind::kCloseParenthesis)) {
    fail(current(), "expected ')' for the expression that begins in line " +
                        std::to_string(tree_->source()->line_of(first.start)) + ", found " +
                        token_name(current().kind));
  }
  take();
  return inner;
}

const Node* Parser::list() {
  const Token open = take();
  Nodes items;
  while (!at(TokenKind::kCloseBracket)) {
    items.push_back(expression());
    if (at(TokenKind::kFor)) {
      if (items.size() > 1) fail(current(), "a comprehension stands alone in its brackets");
      const Node* made = comprehension(items[0], nullptr);
      expect(TokenKind::kCloseBracket);
      return made;
    }
    if (!take_if(TokenKind::kComma)) break;
  }
  expect(TokenKind::kCloseBracket);
  return &make(Kind::kList, open, std::move(items));
}

const Node* Parser::dict() {
  take();
  const Token first = current();
  Nodes items;
  while (!at(TokenKind::kCloseBrace)) {
    const Node* key = expression();
    if (errors_ != nullptr && (at(TokenKind::kComma) || at(TokenKind::kCloseBrace)))
      fail(current(),
           "expected ':', found " + token_name(current().kind) + ": scripts have dicts, but no sets");
    expect(TokenKind::kColon);
    const Node* value = expression();
    if (at(TokenKind::kFor)) {
      if (!items.empty()) fail(current(), "a comprehension stands alone in its braces");
      const Node* made = comprehension(key, value);
      expect(TokenKind::kCloseBrace);
      return made;
    }
    items.push_back(key);
    items.push_back(value);
    if (!take_if(TokenKind::kComma)) break;
  }
  expect(TokenKind::kCloseBrace);
  return &make(Kind::kDict, first, std::move(items));
}

const Node* Parser::comprehension(const Node* element, const Node* value) {
  const Token place = take();
  const Token first = current();
  const Node* target = expression(kBindsComparison);
  if (at(TokenKind::kComma)) {
    Nodes targets{target};
    while (take_if(TokenKind::kComma) && !at(TokenKind::kIn)) targets.push_back(expression(kBindsComparison));
    target = &make(Kind::kTuple, first, std::move(targets));
  }
  expect(TokenKind::kIn);
  // A condition behind is no conditional expression.
  const Node* iterable = expression(1);
  if (at(TokenKind::kIf) || at(TokenKind::kFor)) {
    fail(current(), "a comprehension in TorchScript has one 'for' and no 'if'", "write it as a loop");
  }
  if (value == nullptr) return &make(Kind::kListComprehension, place, Nodes{element, target, iterable});
  return &make(Kind::kDictComprehension, place, Nodes{element, value, target, iterable});
}

const Node* Parser::strings() {
  const Token first = current();
  Nodes parts;
  std::string joined;
  bool is_format = false;
  while (at(TokenKind::kString) || at(TokenKind::kFormatString)) {
    const Token token = take();
    if (token.kind == TokenKind::kFormatString) {
      is_format = true;
      if (!joined.empty()) parts.push_back(&make(Kind::kString, first, Nodes{}, std::exchange(joined, {})));
      format_string(token, parts);
    } else {
      joined += read_string(text(token), {tree_->source(), token.start, token.end});
    }
  }
  if (!is_format) return &make(Kind::kString, first, Nodes{}, std::move(joined));
  if (!joined.empty()) parts.push_back(&make(Kind::kString, first, Nodes{}, std::move(joined)));
  return &make(Kind::kFormat, first, std::move(parts));
}

void Parser::format_string(const Token& token, Nodes& parts) {
  const Level level(*this);
  std::string_view rest = text(token).substr(1);
  const size_t width = rest.size() >= 6 && rest[1] == rest[0] && rest[2] == rest[0] ? 3 : 1;
  rest = rest.substr(width, rest.size() - 2 * width);
  const SourceRange place{tree_->source(), token.start, token.end};
  std::string plain;
  const auto add_plain = [&] {
    if (!plain.empty()) parts.push_back(&make(Kind::kString, token, Nodes{}, resolve_escapes(plain, place)));
    plain.clear();
  };
  while (!rest.empty()) {
    const char c = rest[0];
    if ((c == '{' || c == '}') && rest.size() > 1 && rest[1] == c) {
      plain += c;
      rest.remove_prefix(2);
    } else if (c == '{') {
      const size_t close = rest.find('}');
      const std::string_view inner = rest.substr(1, std::max<size_t>(close, 1) - 1);
      if (close == std::string_view::npos || inner.find_first_of("{:!") != std::string_view::npos) {
        fail(token, "what is in the braces of a format string is one expression, without a specifier");
      }
      add_plain();
      const size_t start = static_cast<size_t>(inner.data() - tree_->source()->text().data());
      Parser nested(tree_, start, start + inner.size(), level_);
      parts.push_back(nested.expression());
      if (!nested.at(TokenKind::kNewline))
        fail(token, "what is in the braces of a format string is no expression");
      rest.remove_prefix(close + 1);
    } else if (c == '}') {
      fail(token, "a '}' in a format string has no '{'", "write it twice");
    } else {
      plain += c;
      rest.remove_prefix(1);
    }
  }
  add_plain();
}

const Node* Parser::call(const Node* callee) {
  const Token open = take();
  Nodes parts{callee};
  while (!at(TokenKind::kCloseParenthesis)) {
    if (at(TokenKind::kName) && ahead().kind == TokenKind::kEqual) {
      const Token name = take();
      take();
      const Node* value = expression();
      parts.push_back(&make(Kind::kKeyword, name, Nodes{value}, std::string(text(name))));
    } else {
      const Node* value = expression();
      if (at(TokenKind::kFor)) value = comprehension(value, nullptr);
      parts.push_back(value);
    }
    if (!take_if(TokenKind::kComma)) break;
  }
  expect(TokenKind::kCloseParenthesis);
  return &make(Kind::kCall, open, std::move(parts));
}

const Node* Parser::subscript(const Node* value) {
  const Token open = take();
  Nodes parts{value};
  while (!at(TokenKind::kCloseBracket)) {
    parts.push_back(index());
    if (!take_if(TokenKind::kComma)) break;
  }
  expect(TokenKind::kCloseBracket);
  return &tree_->make(Kind::kSubscript, open.start, current().start, std::move(parts));
}

// An expression, or a slice of two or three that may all be missing.
const Node* Parser::index() {
  const Token first = current();
  const auto is_missing = [&] {
    return at(TokenKind::kColon) || at(TokenKind::kComma) || at(TokenKind::kCloseBracket);
  };
  const Node* begin = at(TokenKind::kColon) ? nullptr : expression();
  if (!take_if(TokenKind::kColon)) return begin;
  const Node* end = is_missing() ? nullptr : expression();
  const Node* step = take_if(TokenKind::kColon) && !is_missing() ? expression() : nullptr;
  return &make(Kind::kSlice, first, Nodes{begin, end, step});
}

}  // namespace flambeau::script::syntax
