// A condition as Python code over where its symbols come from: "L['x'].size()[0] == (2*L['y'].size()[0])".
// This is the form in which programs keep their guards.
#pragma once

#include <functional>
#include <string>

#include "flambeau/symbolic/expr.h"

namespace flambeau::trace {

// `source`: the text that stands for a symbol.
std::string guard_text(const symbolic::Expr& condition,
                       const std::function<std::string(const symbolic::Expr& symbol)>& source);

}  // namespace flambeau::trace
