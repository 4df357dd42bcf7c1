// Takes the text form of a graph apart into words, types and constants; every error names the byte.
#pragma once

#include <string>
#include <string_view>

#include "flambeau/base/error.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"

namespace flambeau::script::ir {

class TextCursor {
 public:
  // Throws Error(kLimit) for a text longer than kMostGraphTextBytes.
  explicit TextCursor(std::string_view text);

  // Each skips the white space before it. A sign of letters must end where the word ends.
  bool at(std::string_view sign);
  bool at_prefix(std::string_view start);
  bool at_end();
  bool take(std::string_view sign);
  void expect(std::string_view sign);

  std::string_view word();
  // "x.1" of "%x.1".
  std::string_view value_name();
  // "aten::add.Tensor".
  std::string_view kind();
  int64_t integer();
  std::string string();
  // Up to a comma, equal sign, closing bracket or end of line that is not inside of brackets of its own.
  Type type();
  // `type`: what the constant is to be, where it is known: an empty list has the element of that.
  IValue constant(const Type* type, int depth);

  size_t offset();
  [[noreturn]] void fail(const std::string& message);
  [[noreturn]] void fail_at(size_t at, std::string message, ErrorCode code = ErrorCode::kCorrupt);

 private:
  void skip_space();
  IValue number();
  IValue list(const Type* type, int depth);
  IValue tuple(const Type* type, int depth);
  double real();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace flambeau::script::ir
