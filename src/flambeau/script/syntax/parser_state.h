// The recursive descent itself: one method per rule of the grammar. Statements are in parser.cpp, expressions
// in parser_expressions.cpp.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/script/syntax/lexer.h"
#include "flambeau/script/syntax/tree.h"

namespace flambeau::script::syntax {

class Parser {
 public:
  // With `errors`, it is a text of users, and the parser goes on behind what is wrong.
  explicit Parser(const std::shared_ptr<const Source>& source, Diagnostics* errors = nullptr)
      : tree_(std::make_shared<Tree>(source)), tokens_(lex(source, errors)), errors_(errors) {}

  std::shared_ptr<Tree> file(bool is_methods);
  std::shared_ptr<Tree> only_expression();

 private:
  // For the bytes `start` to `end` of a tree's text, `level` levels deep.
  Parser(std::shared_ptr<Tree> tree, size_t start, size_t end, int level)
      : tree_(std::move(tree)), tokens_(lex(tree_->source(), start, end)), level_(level) {}
  using Nodes = std::vector<const Node*>;

  // Statements.
  void file_part(bool is_methods);
  bool text_part(bool is_methods);  // false for what archives have, too
  void import_line();
  std::string imported_name();
  Nodes decorators();
  void skip_statement(size_t from);
  // Throws for statements that Python has and TorchScript has not.
  void fail_statement_of_python();
  const Node* class_definition(Nodes decorators = {});
  const Node* definition(bool is_method, Nodes decorators = {});
  const Node* parameters();
  const Node* parameter(bool is_keyword_only);
  // Types that a comment gives: (A, B) -> R. Adds them to the parameters; returns the result's, or null.
  const Node* type_comment(const Node* parameters, bool is_method);
  const Node* block(bool in_class = false);
  const Node* block_rest(uint32_t start, bool in_class);
  const Node* statement(bool in_class);
  const Node* statement_or_skip(bool in_class);
  const Node* if_statement();
  const Node* loop_statement();
  const Node* with_statement();
  const Node* simple_statement();
  const Node* assignment(const Node* target);
  void skip_import();

  // Expressions.
  const Node* expression_or_tuple();
  const Node* expression(int above = 0);  // with operators that bind closer than that
  const Node* operand();
  const Node* unary(Kind kind, int binds);
  const Node* primary();
  const Node* atom();
  const Node* list();
  const Node* dict();
  const Node* strings();
  // Adds what an f-string's text means to `parts`.
  void format_string(const Token& token, Nodes& parts);
  const Node* parenthesized();
  const Node* comprehension(const Node* element, const Node* value);
  const Node* call(const Node* callee);
  const Node* subscript(const Node* value);
  const Node* index();
  const Node* comparison(const Node* left, int binds);

  // Tokens.
  const Token& current() const { return tokens_[at_]; }
  bool at(TokenKind kind) const { return current().kind == kind; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take();
  bool take_if(TokenKind kind);
  Token expect(TokenKind kind);
  std::string_view text(const Token& token) const;
  [[noreturn]] void fail(const Token& token, std::string message, std::string remedy = {}) const;

  template <typename... Rest>
  Node& make(Kind kind, const Token& token, Rest&&... rest) {
    return tree_->make(kind, token.start, token.end, std::forward<Rest>(rest)...);
  }
  template <typename... Rest>
  Node& make_at(Kind kind, const Node& place, Rest&&... rest) {
    return tree_->make(kind, place.start, place.end, std::forward<Rest>(rest)...);
  }

  // Counts how deep the descent is, for as long as it lives.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.level_ > kMostDepth) parser_.fail_too_deep();
    }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };
  [[noreturn]] void fail_too_deep();

  std::shared_ptr<Tree> tree_;
  std::vector<Token> tokens_;
  Diagnostics* errors_ = nullptr;
  size_t at_ = 0;
  int level_ = 0;
};

}  // namespace flambeau::script::syntax
