// Reading expressions from text.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// Gives the symbol of a name that is written without assumptions, or nothing: then PyTorch's habit decides
// (see symbol()).
using SymbolLookup = std::function<std::optional<Expr>(std::string_view name)>;

inline constexpr size_t kMaxTextLength = size_t{1} << 20;
inline constexpr int kMaxNesting = 512;

// Accepts what sympy's str() and srepr() print, and Python's operators (and, or, not, ==, %, //). The result
// is in canonical form, so text that is not (x + x) comes back as sympy would have it (2*x). Throws
// Error(kCorrupt) with the byte and what was expected, Error(kLimit) for text that is too long, too deep or
// needs integers beyond 64 bits, and Error(kUnsupported) for values that are no real numbers.
Expr parse(std::string_view text, const SymbolLookup& lookup = {});

}  // namespace flambeau::symbolic
