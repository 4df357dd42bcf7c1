// Python's arithmetic on sizes, as a program's nodes do it, over numbers that may be symbols.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "flambeau/value/value.h"

namespace flambeau::trace {

// Of a number of either kind.
SymInt to_sym(const Value& number);

// Nothing where no argument is a symbol, or where the function is none of arithmetic.
std::optional<Value> call_on_symbols(std::string_view target, std::span<const Value> arguments);

}  // namespace flambeau::trace
