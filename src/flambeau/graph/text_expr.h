// Expressions of sizes between their two spellings: the one of files and the one people read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flambeau::graph {

// "2*s77" for "Mul(Integer(2), Symbol('s77', ...))"; text that is no expression stays as it is.
std::string plain_expression(std::string_view text);
// The names of the symbols in it.
std::vector<std::string> symbols_of(std::string_view text);

}  // namespace flambeau::graph
