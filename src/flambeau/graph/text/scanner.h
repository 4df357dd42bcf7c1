// Goes through the lossless text line by line, and through a line token by token. Every error says the line
// and the column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "flambeau/base/error.h"

namespace flambeau::graph {

// A place in the text, for errors found later.
struct TextPlace {
  uint32_t line = 1;
  uint32_t column = 1;
  // "12, column 5".
  std::string to_string() const;
};
[[noreturn]] void fail_at(TextPlace place, std::string message, std::string remedy = {});
// Runs `body`; an Error that leaves it gains the place.
template <typename Body>
decltype(auto) at_place(TextPlace place, Body&& body) {
  return with_location("line", place.to_string(), std::forward<Body>(body));
}

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) { next_line(); }

  // ---- lines: always on one that says something; blank lines and comments but "#|" are skipped
  bool at_end() const { return at_end_; }
  void next_line();
  size_t indent() const { return indent_; }
  // The comment that was skipped last: "# outputs".
  std::string_view last_comment() const { return last_comment_; }
  bool starts_with(std::string_view word) const { return rest().starts_with(word); }

  // ---- tokens; each skips spaces before it
  bool at_line_end();
  // Takes the text if it comes next. A word is taken whole or not at all.
  bool accept(std::string_view token);
  void expect(std::string_view token);
  void expect_line_end();
  char peek();
  // The word that comes next; empty when it is none. Stays where it is.
  std::string_view peek_word();
  std::string_view word(std::string_view what);
  // word or %'text'.
  std::string name(std::string_view what);
  // "torch.ops.aten.add.Tensor".
  std::string_view dotted_name(std::string_view what);
  // In single or double quotes.
  std::string string(std::string_view what);
  int64_t integer(std::string_view what);
  // The digits, sign, point and exponent that come next.
  std::string_view number_text();

  TextPlace place();
  [[noreturn]] void fail(std::string message, std::string remedy = {});
  // "expected X, found 'the rest'".
  [[noreturn]] void fail_expected(std::string_view what);

 private:
  std::string_view rest() const { return line_.substr(column_); }
  void skip_spaces() {
    while (column_ < line_.size() && line_[column_] == ' ') ++column_;
  }
  void append_escape(std::string& to);

  std::string_view text_;  // what comes behind the line
  std::string_view line_;
  std::string_view last_comment_;
  size_t column_ = 0;
  size_t indent_ = 0;
  uint32_t number_ = 0;  // of the line; 0 before the first
  bool at_end_ = false;
};

}  // namespace flambeau::graph
