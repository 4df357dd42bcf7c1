// What is wrong with a script: a list, each with its place, so that a person mends all of it at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "flambeau/base/error.h"

namespace flambeau::script {

struct Diagnostic {
  std::string message = {};    // what was found, what was expected; may be of several lines
  std::string remedy = {};     // "did you mean 'relu'?"; may be empty
  std::string file = {};       // as the caller named the text; may be empty
  size_t line = 0;             // 1 and up; 0 when there is no place
  size_t column = 0;           // 1 and up, in characters
  size_t width = 1;            // how many characters are meant
  std::string line_text = {};  // the whole line, made safe to print
};

// As compilers show it:
//   model.py:3:12: there is no 'yy' here
//     3 |     return yy + 1
//       |            ^~
//       = did you mean 'y'?
std::string to_text(const Diagnostic& diagnostic);

// Error(kInvalidArgument), or kLimit where a bound of the compiler was met; what() is all of them as text, of
// many lines.
class CompileError : public Error {
 public:
  // At least one. `is_cut`: there were more, which were not looked for.
  CompileError(ErrorCode code, std::vector<Diagnostic> diagnostics, bool is_cut);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return message().c_str(); }

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace flambeau::script
