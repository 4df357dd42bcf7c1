// What users' texts have beside the language of archives: imports, constants, decorators; and how the parser
// goes on behind an error.
#include "flambeau/script/syntax/diagnostics.h"
#include "flambeau/script/syntax/parser.h"
#include "flambeau/script/syntax/parser_state.h"

namespace flambeau::script::syntax {
namespace {

struct PythonStatement {
  std::string_view word;
  std::string_view message;
  std::string_view remedy;
};
constexpr PythonStatement kPythonStatements[] = {
    {"try", "TorchScript has no 'try': an exception ends the call", "test before instead"},
    {"except", "TorchScript has no 'except': an exception ends the call", "test before instead"},
    {"finally", "TorchScript has no 'finally'", "write it behind the statements, or use a 'with'"},
    {"lambda", "TorchScript has no 'lambda'", "write a function with 'def'"},
    {"yield", "TorchScript has no generators", "return a list"},
    {"async", "TorchScript has no 'async'", "use torch.jit.fork"},
    {"await", "TorchScript has no 'await'", "use torch.jit.wait"},
    {"nonlocal", "TorchScript has no 'nonlocal'", "return the value instead"},
    {"from", "an import stands at the top of a text, not in a function", ""},
    {"match", "TorchScript has no 'match'", "write 'if' and 'elif'"},
};

}  // namespace

void Parser::fail_statement_of_python() {
  const Token first = current();
  if (first.kind == TokenKind::kImport)
    fail(first, "an import stands at the top of a text, not in a function");
  if (first.kind == TokenKind::kElse || first.kind == TokenKind::kElif)
    fail(first, token_name(first.kind) + " has no 'if' before it", "indent it like the 'if' it belongs to");
  if (first.kind == TokenKind::kIndent) fail(first, "this line is indented, but no block begins here");
  if (first.kind == TokenKind::kClass) fail(first, "a class stands at the top of a text, not in a function");
  if (first.kind != TokenKind::kName) return;
  // A variable may be called like this, too.
  const TokenKind next = ahead().kind;
  const bool is_used = next == TokenKind::kEqual || next == TokenKind::kDot ||
                       next == TokenKind::kOpenParenthesis || next == TokenKind::kComma ||
                       next == TokenKind::kOpenBracket;
  const bool is_header = next == TokenKind::kColon && ahead().end < tree_->source()->text().size();
  if (is_used && !is_header) return;
  for (const PythonStatement& statement : kPythonStatements) {
    if (text(first) == statement.word)
      fail(first, std::string(statement.message), std::string(statement.remedy));
  }
}

// Behind the statement that begins at token `from`, with all blocks that belong to it.
void Parser::skip_statement(size_t from) {
  at_ = std::max(at_, from);
  // The error may be inside of a block that the statement opened.
  size_t depth = 0;
  for (size_t i = from; i < at_; ++i) {
    if (tokens_[i].kind == TokenKind::kIndent) ++depth;
    if (tokens_[i].kind == TokenKind::kDedent && depth > 0) --depth;
  }
  bool is_moved = at_ > from;
  while (!at(TokenKind::kEnd)) {
    const TokenKind kind = current().kind;
    if (kind == TokenKind::kDedent && depth == 0) {
      if (is_moved) return;
      take();
      return;
    }
    if (kind == TokenKind::kIndent) ++depth;
    if (kind == TokenKind::kDedent) --depth;
    take();
    is_moved = true;
    const bool is_end = depth == 0 && (kind == TokenKind::kNewline || kind == TokenKind::kDedent);
    const bool goes_on =
        at(TokenKind::kElse) || at(TokenKind::kElif) ||
        (at(TokenKind::kName) && (text(current()) == "except" || text(current()) == "finally"));
    if (is_end && !goes_on) return;
  }
}

const Node* Parser::statement_or_skip(bool in_class) {
  if (errors_ == nullptr) return statement(in_class);
  const size_t begin = at_;
  try {
    return statement(in_class);
  } catch (const Error& error) {
    errors_->add(error);
    skip_statement(begin);
    return &make(Kind::kPass, tokens_[begin]);
  }
}

bool Parser::text_part(bool is_methods) {
  switch (current().kind) {
    case TokenKind::kImport:
      import_line();
      return true;
    case TokenKind::kAt: {
      Nodes above = decorators();
      if (at(TokenKind::kClass)) {
        tree_->definitions.push_back(class_definition(std::move(above)));
      } else if (at(TokenKind::kDef)) {
        tree_->definitions.push_back(definition(is_methods, std::move(above)));
      } else {
        fail(current(), "expected 'def' or 'class' below a decorator, found " + token_name(current().kind));
      }
      return true;
    }
    case TokenKind::kString: {
      // What the text is for.
      strings();
      expect(TokenKind::kNewline);
      return true;
    }
    case TokenKind::kName: {
      if (text(current()) == "from") {
        import_line();
        return true;
      }
      const TokenKind next = ahead().kind;
      if (next != TokenKind::kEqual && next != TokenKind::kColon) return false;
      tree_->definitions.push_back(simple_statement());
      return true;
    }
    case TokenKind::kIndent:
      fail(current(), "this line is indented, but no block begins here");
    default:
      return false;
  }
}

std::string Parser::imported_name() {
  std::string name(text(expect(TokenKind::kName)));
  while (take_if(TokenKind::kDot)) name += "." + std::string(text(expect(TokenKind::kName)));
  return name;
}

// import a.b as c, d
// from a.b import c as d, e
void Parser::import_line() {
  std::string from;
  if (!at(TokenKind::kImport)) {
    take();
    from = imported_name();
  }
  expect(TokenKind::kImport);
  if (take_if(TokenKind::kStar)) {
    expect(TokenKind::kNewline);
    return;
  }
  const bool is_nested = take_if(TokenKind::kOpenParenthesis);
  do {
    if (is_nested && at(TokenKind::kCloseParenthesis)) break;
    std::string name = imported_name();
    std::string called = from.empty() ? name.substr(0, name.find('.')) : name;
    const bool has_name = take_if(TokenKind::kAs);
    if (has_name) called = text(expect(TokenKind::kName));
    if (!from.empty()) name = from + "." + name;
    if (from.empty() && !has_name) name = called;
    tree_->imports.emplace_back(std::move(called), std::move(name));
  } while (take_if(TokenKind::kComma));
  if (is_nested) expect(TokenKind::kCloseParenthesis);
  expect(TokenKind::kNewline);
}

// @a.b and @a.b(...), each on a line of its own.
Parser::Nodes Parser::decorators() {
  Nodes found;
  while (take_if(TokenKind::kAt)) {
    found.push_back(expression());
    expect(TokenKind::kNewline);
  }
  return found;
}

}  // namespace flambeau::script::syntax
