#include "flambeau/symbolic/text/parse.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/functions.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/text/lexer.h"
#include "flambeau/symbolic/text/parse_call.h"
#include "flambeau/symbolic/work_limit.h"

namespace flambeau::symbolic {
namespace {

// Real expressions take a few units a byte.
constexpr uint64_t kBaseWork = 1'000'000;
constexpr uint64_t kWorkPerByte = 16;

// Python's precedences of binary operators, loosest first; 0 is no operator.
enum Level : int { kNone, kOr, kAnd, kComparison, kBitOr, kBitXor, kBitAnd, kShift, kSum, kProduct };

Level level_of(const Token& token) {
  if (token.kind == TokenKind::kName) return token.text == "or" ? kOr : token.text == "and" ? kAnd : kNone;
  if (token.kind != TokenKind::kSign) return kNone;
  const std::string_view sign = token.text;
  if (sign == "<" || sign == ">" || sign == "<=" || sign == ">=" || sign == "==" || sign == "!=")
    return kComparison;
  if (sign == "|") return kBitOr;
  if (sign == "^") return kBitXor;
  if (sign == "&") return kBitAnd;
  if (sign == "<<" || sign == ">>") return kShift;
  if (sign == "+" || sign == "-") return kSum;
  if (sign == "*" || sign == "/" || sign == "//" || sign == "%") return kProduct;
  return kNone;
}

Expr compare_with(std::string_view sign, const Expr& a, const Expr& b) {
  if (sign == "<") return lt(a, b);
  if (sign == "<=") return le(a, b);
  if (sign == ">") return gt(a, b);
  if (sign == ">=") return ge(a, b);
  return sign == "==" ? eq(a, b) : ne(a, b);
}

Expr bitwise(std::string_view sign, const Expr& a, const Expr& b) {
  const bool is_logical = a.is_boolean() || b.is_boolean();
  if (is_logical && sign == "&") return and_({a, b});
  if (is_logical && sign == "|") return or_({a, b});
  const char* name = sign == "&"   ? "BitwiseFn_bitwise_and"
                     : sign == "|" ? "BitwiseFn_bitwise_or"
                                   : "BitwiseFn_bitwise_xor";
  return apply(name, {a, b});
}

Expr remainder(const Expr& a, const Expr& b) {
  const bool is_natural = a.facts().is(Fact::kNonnegative) && b.facts().is(Fact::kNonnegative);
  return is_natural ? mod(a, b) : python_mod(a, b);
}

class Parser {
 public:
  Parser(std::string_view text, const SymbolLookup& lookup) : lexer_(text), lookup_(lookup) { advance(); }

  Expr parse() {
    Expr result = expression(kOr);
    if (token_.kind != TokenKind::kEnd) fail("an operator or the end of the text");
    return result;
  }

  size_t position() const { return token_.position; }

 private:
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : depth_(parser.depth_) {
      if (++depth_ > kMaxNesting)
        throw Error(ErrorCode::kLimit,
                    fmt::format("an expression is nested more than {} levels deep", kMaxNesting));
    }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    int& depth_;
  };

  [[noreturn]] void fail(std::string_view expected) {
    throw Error(ErrorCode::kCorrupt, fmt::format("expected {}, found {}", expected, describe(token_)));
  }

  void advance() { token_ = lexer_.next(); }
  bool at(std::string_view sign) const { return token_.kind == TokenKind::kSign && token_.text == sign; }
  bool accept(std::string_view sign) {
    if (!at(sign)) return false;
    advance();
    return true;
  }
  void expect(std::string_view sign) {
    if (!accept(sign)) fail(fmt::format("'{}'", sign));
  }

  Expr expression(int least) {
    const Nesting nesting(*this);
    if (token_.kind == TokenKind::kName && token_.text == "not" && least <= kComparison) {
      advance();
      Expr result = not_(expression(kComparison));
      return operators(std::move(result), least);
    }
    if (at("-") && least <= kProduct) {
      advance();
      if (token_.kind == TokenKind::kInteger) return operators(negative_number(), least);
      // In -(x + 1)*f(x) the minus belongs to the product, not to the sum.
      Expr first = operand();
      const bool is_product = level_of(token_) == kProduct;
      return operators(is_product ? product({Expr(-1), std::move(first)}) : negate(first), least);
    }
    return operators(operand(), least);
  }

  // Operators of level `least` or tighter that follow `left`.
  Expr operators(Expr left, int least) {
    while (true) {
      const Level level = level_of(token_);
      if (level == kNone || level < least) return left;
      switch (level) {
        case kProduct:
          left = product({std::move(left)});
          break;
        case kSum:
          left = sum(std::move(left));
          break;
        case kComparison:
          left = comparison(std::move(left));
          break;
        case kBitOr:
        case kBitAnd:
          left = bitwise_chain(std::move(left), level);
          break;
        case kOr:
        case kAnd:
          left = junction(std::move(left), level);
          break;
        default: {
          const std::string_view sign = token_.text;
          advance();
          const Expr right = expression(level + 1);
          if (sign == "<<") {
            left = left_shift(left, right);
          } else if (sign == ">>") {
            left = right_shift(left, right);
          } else {
            left = bitwise(sign, left, right);
          }
        }
      }
    }
  }

  // All factors at once: multiplied one by one, 2*(x + 1)*f(x) would lose its form.
  Expr product(std::vector<Expr> factors) {
    while (level_of(token_) == kProduct) {
      const std::string_view sign = token_.text;
      advance();
      const Expr right = operand();
      if (sign == "*") {
        factors.push_back(right);
      } else if (sign == "/") {
        factors.push_back(pow(right, Expr(-1)));
      } else {
        const Expr left = mul(std::move(factors));
        factors = {sign == "//" ? floor_div(left, right) : remainder(left, right)};
      }
    }
    return mul(std::move(factors));
  }

  Expr sum(Expr first) {
    std::vector<Expr> terms = {std::move(first)};
    while (level_of(token_) == kSum) {
      const bool is_negative = token_.text == "-";
      advance();
      Expr term = expression(kProduct);
      terms.push_back(is_negative ? negate(term) : std::move(term));
    }
    return add(std::move(terms));
  }

  // a < b < c means a < b and b < c.
  Expr comparison(Expr left) {
    std::vector<Expr> links;
    while (level_of(token_) == kComparison) {
      const std::string_view sign = token_.text;
      advance();
      Expr right = expression(kBitOr);
      links.push_back(compare_with(sign, left, right));
      left = std::move(right);
    }
    return links.size() == 1 ? links[0] : and_(std::move(links));
  }

  Expr junction(Expr first, Level level) {
    std::vector<Expr> args = {std::move(first)};
    while (level_of(token_) == level) {
      advance();
      args.push_back(expression(level + 1));
    }
    return level == kOr ? or_(std::move(args)) : and_(std::move(args));
  }

  // Conditions are joined all at once: one by one would take quadratic time.
  Expr bitwise_chain(Expr first, Level level) {
    std::vector<Expr> args = {std::move(first)};
    bool all_logical = args[0].is_boolean();
    while (level_of(token_) == level) {
      advance();
      args.push_back(expression(level + 1));
      all_logical = all_logical && args.back().is_boolean();
    }
    if (all_logical) return level == kBitOr ? or_of_chain(args) : and_(std::move(args));
    Expr result = args[0];
    for (size_t i = 1; i < args.size(); ++i) result = bitwise(level == kBitOr ? "|" : "&", result, args[i]);
    return result;
  }

  // Signs, powers and what they stand at.
  Expr operand() {
    const Nesting nesting(*this);
    if (accept("-")) {
      if (token_.kind == TokenKind::kInteger) return negative_number();
      return negate(operand());
    }
    if (accept("+")) return operand();
    if (accept("~")) return not_(operand());
    return raised(primary(), false);
  }

  // A minus before a number is part of it: -9223372036854775808 has no positive counterpart.
  Expr negative_number() { return raised(Expr(integer("-")), true); }

  // `base`, or base**exponent. -2**2 is -(2**2) in Python.
  Expr raised(Expr base, bool is_negative_number) {
    if (!accept("**")) return base;
    const Expr exponent = operand();
    return is_negative_number ? negate(pow(negate(base), exponent)) : pow(base, exponent);
  }

  int64_t integer(std::string_view sign) {
    const std::string text = std::string(sign) + std::string(token_.text);
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size())
      throw Error(ErrorCode::kLimit, fmt::format("integer {} does not fit 64 bits", printable(text, 40)));
    advance();
    return value;
  }

  Expr primary() {
    switch (token_.kind) {
      case TokenKind::kInteger:
        return Expr(integer(""));
      case TokenKind::kFloat: {
        const Expr value(Number::real(std::strtod(std::string(token_.text).c_str(), nullptr)));
        advance();
        return value;
      }
      case TokenKind::kName:
        return name();
      default:
        break;
    }
    if (!accept("(")) fail("an expression");
    Expr result = expression(kOr);
    if (accept(",")) {
      // (value, condition) of a Piecewise.
      const Expr condition = expression(kOr);
      accept(",");
      result = make_node(Kind::kPair, {result, condition});
    }
    expect(")");
    return result;
  }

  Expr name() {
    const std::string_view word = token_.text;
    if (word == "and" || word == "or" || word == "not") fail("an expression");
    advance();
    if (at("(")) return call(word);
    if (std::optional<Expr> constant = named_constant(word)) return *constant;
    if (lookup_)
      if (std::optional<Expr> found = lookup_(word)) return *found;
    return symbol(word);
  }

  Expr call(std::string_view word) {
    CallArguments arguments = list();
    // Function('name')(arguments)
    if (word == "Function" && arguments.texts.size() == 1 && at("(")) {
      CallArguments inner = list();
      return undefined_function(arguments.texts[0], std::move(inner.args));
    }
    if (is_srepr_constructor(word)) saw_srepr_ = true;
    return build_call(word, std::move(arguments), saw_srepr_);
  }

  CallArguments list() {
    CallArguments arguments;
    expect("(");
    while (!at(")")) {
      if (token_.kind == TokenKind::kString) {
        arguments.texts.push_back(unescape(token_.text));
        advance();
      } else if (token_.kind == TokenKind::kName) {
        argument_or_keyword(arguments);
      } else {
        arguments.args.push_back(expression(kOr));
      }
      if (!accept(",") && !at(")")) fail("',' or ')'");
    }
    expect(")");
    return arguments;
  }

  void argument_or_keyword(CallArguments& arguments) {
    // One token of lookahead is not enough for name=value: try the name first.
    const Lexer saved_lexer = lexer_;
    const Token saved_token = token_;
    advance();
    if (!accept("=")) {
      lexer_ = saved_lexer;
      token_ = saved_token;
      arguments.args.push_back(expression(kOr));
      return;
    }
    if (token_.kind != TokenKind::kName && token_.kind != TokenKind::kInteger) fail("a value after '='");
    arguments.keywords.emplace_back(std::string(saved_token.text), std::string(token_.text));
    advance();
  }

  Lexer lexer_;
  Token token_;
  const SymbolLookup& lookup_;
  int depth_ = 0;
  bool saw_srepr_ = false;
};

}  // namespace

Expr parse(std::string_view text, const SymbolLookup& lookup) {
  if (text.size() > kMaxTextLength)
    throw Error(ErrorCode::kLimit, fmt::format("an expression of {} bytes is longer than the {} allowed",
                                               text.size(), kMaxTextLength));
  const WorkLimit limit(kBaseWork + kWorkPerByte * text.size());
  std::optional<Parser> parser;
  try {
    return parser.emplace(text, lookup).parse();
  } catch (Error& error) {
    const std::string position = std::to_string(parser ? parser->position() : 0);
    if (error.code() == ErrorCode::kInvalidArgument)
      throw Error(ErrorCode::kCorrupt, error.message()).add_location("byte", position);
    if (error.locations().empty()) error.add_location("byte", position);
    throw;
  }
}

}  // namespace flambeau::symbolic
