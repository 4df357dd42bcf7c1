#include "flambeau/script/syntax/parser.h"

#include <algorithm>

#include "flambeau/script/syntax/diagnostics.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/syntax/parser_state.h"

namespace flambeau::script::syntax {

Token Parser::take() {
  const Token token = current();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::take_if(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

Token Parser::expect(TokenKind kind) {
  if (!at(kind)) fail(current(), "expected " + token_name(kind) + ", found " + token_name(current().kind));
  return take();
}

std::string_view Parser::text(const Token& token) const {
  return std::string_view(tree_->source()->text()).substr(token.start, token.end - token.start);
}

void Parser::fail(const Token& token, std::string message, std::string remedy) const {
  const bool is_line_end = token.kind == TokenKind::kNewline || token.kind == TokenKind::kIndent ||
                           token.kind == TokenKind::kDedent || token.kind == TokenKind::kEnd;
  if (errors_ != nullptr && is_line_end && at_ > 0 && token.start == current().start) {
    // The end of a line is behind what stands on it.
    const uint32_t end = tokens_[at_ - 1].end;
    fail_at({tree_->source(), end, end}, std::move(message), std::move(remedy));
  }
  fail_at({tree_->source(), token.start, token.end}, std::move(message), std::move(remedy));
}

void Parser::fail_too_deep() {
  --level_;
  fail_at({tree_->source(), current().start, current().end}, ErrorCode::kLimit,
          "this nests deeper than " + std::to_string(kMostDepth) + " levels",
          "give parts of it names of their own");
}

std::shared_ptr<Tree> Parser::file(bool is_methods) {
  while (!at(TokenKind::kEnd)) {
    const size_t begin = at_;
    try {
      if (errors_ == nullptr || !text_part(is_methods)) file_part(is_methods);
    } catch (const Error& error) {
      if (errors_ == nullptr) throw;
      errors_->add(error);
      skip_statement(begin);
    }
  }
  return tree_;
}

void Parser::file_part(bool is_methods) {
  switch (current().kind) {
    case TokenKind::kNewline:
      take();
      return;
    case TokenKind::kClass:
      tree_->definitions.push_back(class_definition());
      return;
    case TokenKind::kDef:
      tree_->definitions.push_back(definition(is_methods));
      return;
    case TokenKind::kImport:
      return skip_import();
    case TokenKind::kName:
      if (text(current()) == "op_version_set") return skip_import();
      [[fallthrough]];
    default:
      fail(current(), "expected 'class' or 'def', found " + token_name(current().kind));
  }
}

std::shared_ptr<Tree> Parser::only_expression() {
  tree_->definitions.push_back(expression_or_tuple());
  take_if(TokenKind::kNewline);
  if (!at(TokenKind::kEnd))
    fail(current(), "expected the end of the text, found " + token_name(current().kind));
  return tree_;
}

void Parser::skip_import() {
  while (!at(TokenKind::kNewline) && !at(TokenKind::kEnd)) take();
}

const Node* Parser::class_definition(Nodes decorators) {
  take();
  const Token name = expect(TokenKind::kName);
  const Node* superclass = nullptr;
  if (take_if(TokenKind::kOpenParenthesis)) {
    if (!at(TokenKind::kCloseParenthesis)) superclass = expression();
    expect(TokenKind::kCloseParenthesis);
  }
  expect(TokenKind::kColon);
  const Node* body = block(true);
  Nodes parts{superclass, body};
  parts.insert(parts.end(), decorators.begin(), decorators.end());
  return &make(Kind::kClass, name, std::move(parts), std::string(text(name)));
}

const Node* Parser::definition(bool is_method, Nodes decorators) {
  const Level level(*this);
  const auto made = [&](const Token& name, Nodes parts) {
    parts.insert(parts.end(), decorators.begin(), decorators.end());
    return &make(Kind::kDefinition, name, std::move(parts), std::string(text(name)));
  };
  take();
  const Token name = expect(TokenKind::kName);
  const Node* taken = parameters();
  const Node* result = take_if(TokenKind::kArrow) ? expression() : nullptr;
  expect(TokenKind::kColon);
  const Token first = current();
  const bool is_indented = take_if(TokenKind::kIndent);
  if (errors_ != nullptr && (at(TokenKind::kNewline) || at(TokenKind::kEnd)))
    fail(current(), "expected an indented block below 'def'", "write 'pass' where there is nothing to do");
  if (at(TokenKind::kTypeComment)) {
    result = type_comment(taken, is_method);
    if (is_indented) expect(TokenKind::kNewline);
    // A comment behind the colon leaves the body on the lines below.
    if (!is_indented && at(TokenKind::kIndent)) {
      const Node* body = block();
      return made(name, {taken, result, body});
    }
  }
  const Node* body =
      is_indented ? block_rest(first.start, false) : &make(Kind::kSequence, first, Nodes{statement(false)});
  return made(name, {taken, result, body});
}

const Node* Parser::parameters() {
  const Token open = expect(TokenKind::kOpenParenthesis);
  Nodes found;
  bool is_keyword_only = false;
  while (!at(TokenKind::kCloseParenthesis)) {
    if (errors_ != nullptr &&
        (at(TokenKind::kDoubleStar) || (at(TokenKind::kStar) && ahead().kind == TokenKind::kName)))
      fail(current(), "functions of scripts take so many arguments as they name",
           "take a list or a dict instead");
    if (!is_keyword_only && take_if(TokenKind::kStar)) {
      is_keyword_only = true;
    } else {
      found.push_back(parameter(is_keyword_only));
    }
    if (!take_if(TokenKind::kComma)) break;
  }
  expect(TokenKind::kCloseParenthesis);
  return &make(Kind::kSequence, open, std::move(found));
}

const Node* Parser::parameter(bool is_keyword_only) {
  const Token name = expect(TokenKind::kName);
  const Node* type = take_if(TokenKind::kColon) ? expression() : nullptr;
  const Token place = current();
  const Node* value = take_if(TokenKind::kEqual) ? expression() : nullptr;
  Node& made = type != nullptr ? make_at(Kind::kParameter, *type) : make(Kind::kParameter, place);
  made.text = text(name);
  made.is_keyword_only = is_keyword_only;
  made.children = {type, value};
  made.depth = static_cast<uint16_t>(1 + std::max(type ? type->depth : 0, value ? value->depth : 0));
  return &made;
}

const Node* Parser::type_comment(const Node* parameters, bool is_method) {
  const Token comment = take();
  expect(TokenKind::kOpenParenthesis);
  Nodes types;
  while (!at(TokenKind::kCloseParenthesis)) {
    types.push_back(expression());
    if (!take_if(TokenKind::kComma)) break;
  }
  expect(TokenKind::kCloseParenthesis);
  const size_t first = is_method ? 1 : 0;
  const size_t wanted = parameters->children.size() - std::min(first, parameters->children.size());
  if (types.size() != wanted) {
    fail(comment, "the type comment has " + std::to_string(types.size()) + " types for " +
                      std::to_string(wanted) + " parameters");
  }
  for (size_t i = 0; i < types.size(); ++i) {
    // The parser made them, and nobody else has seen them yet.
    auto* parameter = const_cast<Node*>(parameters->children[first + i]);
    parameter->children[0] = types[i];
  }
  return take_if(TokenKind::kArrow) ? expression() : nullptr;
}

const Node* Parser::block(bool in_class) {
  const Token indent = expect(TokenKind::kIndent);
  return block_rest(indent.start, in_class);
}

const Node* Parser::block_rest(uint32_t start, bool in_class) {
  const Level level(*this);
  Nodes statements;
  do {
    statements.push_back(statement_or_skip(in_class));
    // Behind wrong indentation a block may lack its end.
    if (errors_ != nullptr && at(TokenKind::kEnd)) break;
  } while (!take_if(TokenKind::kDedent));
  return &tree_->make(Kind::kSequence, start, start, std::move(statements));
}

const Node* Parser::statement(bool in_class) {
  switch (current().kind) {
    case TokenKind::kIf:
      return if_statement();
    case TokenKind::kWhile:
    case TokenKind::kFor:
      return loop_statement();
    case TokenKind::kWith:
      return with_statement();
    case TokenKind::kDef:
      return definition(in_class);
    case TokenKind::kAt:
      if (errors_ != nullptr && in_class) {
        Nodes above = decorators();
        if (!at(TokenKind::kDef))
          fail(current(), "expected 'def' below a decorator, found " + token_name(current().kind));
        return definition(in_class, std::move(above));
      }
      return simple_statement();
    default:
      return simple_statement();
  }
}

const Node* Parser::if_statement() {
  const Level level(*this);
  Token place = take();
  if (place.kind == TokenKind::kElif) place = current();
  const Node* condition = expression();
  expect(TokenKind::kColon);
  const Node* then = block();
  const Token behind = current();
  const Node* otherwise = nullptr;
  if (at(TokenKind::kElif)) {
    const Node* nested = if_statement();
    otherwise = &make_at(Kind::kSequence, *nested, Nodes{nested});
  } else if (take_if(TokenKind::kElse)) {
    expect(TokenKind::kColon);
    otherwise = block();
  } else {
    otherwise = &make(Kind::kSequence, behind);
  }
  return &make(Kind::kIf, place, Nodes{condition, then, otherwise});
}

const Node* Parser::loop_statement() {
  const Token place = take();
  if (place.kind == TokenKind::kWhile) {
    const Node* condition = expression();
    expect(TokenKind::kColon);
    const Node* body = block();
    return &make(Kind::kWhile, place, Nodes{condition, body});
  }
  const auto sequence = [&](TokenKind end, int binds) {
    const Token first = current();
    Nodes found;
    while (!at(end)) {
      found.push_back(expression(binds));
      if (!take_if(TokenKind::kComma)) break;
    }
    expect(end);
    return &make(Kind::kSequence, first, std::move(found));
  };
  // Targets bind closer than 'in'.
  const Node* targets = sequence(TokenKind::kIn, 5);
  const Node* iterables = sequence(TokenKind::kColon, 0);
  const Node* body = block();
  return &make(Kind::kFor, place, Nodes{targets, iterables, body});
}

const Node* Parser::with_statement() {
  const Token place = take();
  const Token first = current();
  Nodes items;
  while (!at(TokenKind::kColon)) {
    const Node* value = expression();
    if (at(TokenKind::kAs)) {
      const Token as = take();
      const Token name = expect(TokenKind::kName);
      const Node* target = &make(Kind::kName, name, Nodes{}, std::string(text(name)));
      items.push_back(&make(Kind::kWithItem, as, Nodes{value, target}));
    } else {
      items.push_back(&make_at(Kind::kWithItem, *value, Nodes{value, nullptr}));
    }
    if (!take_if(TokenKind::kComma)) break;
  }
  expect(TokenKind::kColon);
  const Node* all = &make(Kind::kSequence, first, std::move(items));
  const Node* body = block();
  return &make(Kind::kWith, place, Nodes{all, body});
}

const Node* Parser::simple_statement() {
  const Token place = current();
  Nodes parts;
  Kind kind = Kind::kExpression;
  switch (place.kind) {
    case TokenKind::kReturn:
      take();
      kind = Kind::kReturn;
      parts.push_back(at(TokenKind::kNewline) ? &make(Kind::kNone, place) : expression_or_tuple());
      break;
    case TokenKind::kRaise:
      take();
      kind = Kind::kRaise;
      parts.push_back(expression());
      break;
    case TokenKind::kAssert:
      take();
      kind = Kind::kAssert;
      parts.push_back(expression());
      parts.push_back(take_if(TokenKind::kComma) ? expression() : nullptr);
      break;
    case TokenKind::kBreak:
    case TokenKind::kContinue:
    case TokenKind::kPass:
      take();
      kind = place.kind == TokenKind::kBreak      ? Kind::kBreak
             : place.kind == TokenKind::kContinue ? Kind::kContinue
                                                  : Kind::kPass;
      break;
    case TokenKind::kDel:
    case TokenKind::kGlobal:
      take();
      kind = place.kind == TokenKind::kDel ? Kind::kDelete : Kind::kGlobal;
      do {
        parts.push_back(expression());
      } while (take_if(TokenKind::kComma));
      break;
    default: {
      if (errors_ != nullptr) fail_statement_of_python();
      const Node* first = expression_or_tuple();
      if (!at(TokenKind::kNewline)) return assignment(first);
      take();
      return &make_at(Kind::kExpression, *first, Nodes{first});
    }
  }
  expect(TokenKind::kNewline);
  return &make(kind, place, std::move(parts));
}

const Node* Parser::assignment(const Node* target) {
  const Node* type = take_if(TokenKind::kColon) ? expression() : nullptr;
  const Token sign = current();
  Nodes parts{type, nullptr, target};
  if (take_if(TokenKind::kEqual)) {
    parts[1] = expression_or_tuple();
    while (take_if(TokenKind::kEqual)) {
      if (type != nullptr)
        fail(sign, "an assignment with a type has one target", "assign one after the other");
      parts.push_back(parts[1]);
      parts[1] = expression_or_tuple();
    }
  } else if (sign.kind >= TokenKind::kPlusEqual && sign.kind <= TokenKind::kDoubleStarEqual &&
             type == nullptr) {
    static constexpr Kind kOperations[] = {
        Kind::kAdd,    Kind::kSubtract, Kind::kMultiply,  Kind::kDivide,     Kind::kModulo, Kind::kBitOr,
        Kind::kBitAnd, Kind::kBitXor,   Kind::kShiftLeft, Kind::kShiftRight, Kind::kPower,
    };
    take();
    if (target->is(Kind::kTuple)) fail(sign, "an augmented assignment has one target");
    const Node* value = expression_or_tuple();
    expect(TokenKind::kNewline);
    Node& made = make_at(Kind::kAugmentedAssign, *target, Nodes{target, value});
    made.operation = kOperations[static_cast<size_t>(sign.kind) - static_cast<size_t>(TokenKind::kPlusEqual)];
    return &made;
  } else if (type == nullptr) {
    fail(sign, "expected the end of the line, found " + token_name(sign.kind));
  }
  expect(TokenKind::kNewline);
  return &make_at(Kind::kAssign, *target, std::move(parts));
}

std::shared_ptr<Tree> parse_text(const std::shared_ptr<const Source>& source, bool is_methods,
                                 Diagnostics& errors) {
  return Parser(source, &errors).file(is_methods);
}

std::shared_ptr<Tree> parse_file(const std::shared_ptr<const Source>& source) {
  return Parser(source).file(false);
}

std::shared_ptr<Tree> parse_methods(const std::shared_ptr<const Source>& source) {
  return Parser(source).file(true);
}

std::shared_ptr<Tree> parse_expression(const std::shared_ptr<const Source>& source) {
  return Parser(source).only_expression();
}

}  // namespace flambeau::script::syntax
