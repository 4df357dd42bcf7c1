// Looks at texts that PyTorch evaluates as Python (sizes, guards) without computing them: whether they stay
// inside a grammar of numbers, symbols, operators and functions of numbers, and which symbols they have. What
// is outside of it could do anything. Not symbolic::parse(): a program must not be refused for an expression
// that is beyond what our engine computes. Internal to the verifier.
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

// A size, in either form PyTorch writes: "2*s0 + 1" or "Add(Mul(Integer(2), Symbol('s0')), Integer(1))". The
// views in the result are views of the text.
Expression read_expression(std::string_view text);

// A guard, which speaks of inputs instead of symbols: "L['x'].size()[0] == 2*L['y'][0].stride()[1]".
Expression read_guard(std::string_view text);

// "u0", "zuf1": stands for something that is only known when the program runs.
bool is_unbacked_symbol(std::string_view name);

// Whether Python reads the text as one name, and nothing else: PyTorch writes names of values into source
// code. Letters beyond ASCII are taken to be letters.
bool is_python_name(std::string_view text);
// "from", which no name can be.
bool is_python_keyword(std::string_view text);

}  // namespace flambeau::graph::verifying
