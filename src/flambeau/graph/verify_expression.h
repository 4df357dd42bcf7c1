// Looks at the text of a symbolic expression, in either form PyTorch writes, without computing it: whether it
// is well-formed, and which symbols it has. Not symbolic::parse(): a program must not be refused for an
// expression that is beyond what our engine computes. Internal to the verifier.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flambeau::graph::verifying {

struct Expression {
  // Empty when it is well-formed; otherwise "expected an operand at byte 5, found ')'".
  std::string problem;
  std::vector<std::string_view> symbols;  // views of the text, with repetitions
  // A symbol alone, or times one other factor, or compared with a number: a value of this form tells what
  // the symbol is.
  bool tells_symbol = false;
};

// The views in the result are views of the text.
Expression read_expression(std::string_view text);

// "u0", "zuf1": stands for something that is only known when the program runs.
bool is_unbacked_symbol(std::string_view name);

}  // namespace flambeau::graph::verifying
