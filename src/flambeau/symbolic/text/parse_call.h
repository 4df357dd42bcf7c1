// What stands before parentheses in an expression's text: srepr's constructors and functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/symbolic/expr.h"
#include "flambeau/symbolic/text/parse.h"

namespace flambeau::symbolic {

struct CallArguments {
  std::vector<Expr> args;
  std::vector<std::string> texts;                             // quoted
  std::vector<std::pair<std::string, std::string>> keywords;  // positive=True
};

// Integer, Symbol and the like, which only srepr writes.
bool is_srepr_constructor(std::string_view name);

// `in_srepr`: an unknown name is a class of its own and not an undefined function.
Expr build_call(std::string_view name, CallArguments arguments, bool in_srepr);

// oo, int_oo, nan, zoo, True, true, BooleanTrue...
std::optional<Expr> named_constant(std::string_view name);

// Without Python's backslashes.
std::string unescape(std::string_view text);

}  // namespace flambeau::symbolic
