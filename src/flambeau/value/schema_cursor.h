// Takes a schema's text apart into words and signs; every error names the byte.
#pragma once

#include <string>
#include <string_view>

#include "flambeau/base/error.h"

namespace flambeau {

class SchemaCursor {
 public:
  // Throws Error(kLimit) for a text longer than kMostSchemaBytes.
  explicit SchemaCursor(std::string_view text);

  // Each skips the white space before it.
  bool at(char sign);
  bool at(std::string_view sign);
  bool at_identifier();
  bool at_number();
  bool at_string();
  bool at_end();

  // Takes it when it is there. A sign of letters, such as "None", must end where the word ends.
  bool take(char sign);
  bool take(std::string_view sign);
  // Throws Error(kCorrupt, "expected X, found Y") located at the byte.
  void expect(char sign);
  void expect(std::string_view sign);
  // `what` says in the error what was expected: "the name of an argument".
  std::string_view identifier(std::string_view what);
  // Digits, point, exponent, and an imaginary number's j; without a sign.
  std::string_view number();
  // A quoted string, its escapes resolved.
  std::string string();

  // Where the next word starts, for errors about it once it is taken.
  size_t offset();
  // What was taken since `start`, which offset() gave.
  std::string_view text_since(size_t start) const { return text_.substr(start, at_ - start); }

  [[noreturn]] void fail(std::string message);
  [[noreturn]] void fail_expected(std::string_view what);
  [[noreturn]] static void fail_at(size_t offset, std::string message, ErrorCode code = ErrorCode::kCorrupt);

 private:
  void skip_space();
  std::string found();
  char escape();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace flambeau
