// What the literals of a script mean: numbers and strings.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "flambeau/script/source.h"

namespace flambeau::script::syntax {

using Number = std::variant<int64_t, double, std::complex<double>>;

// The value of a number's text, with a '-' before it or not. It is an int without '.', exponent and 'j'.
// Throws Error(kCorrupt) that shows `range` for an int beyond 64 bits.
Number read_number(std::string_view text, const SourceRange& range);

// What is between the quotes of a string token, escapes resolved. Throws Error(kCorrupt) that shows `range`
// for an escape that TorchScript has not.
std::string read_string(std::string_view token, const SourceRange& range);
// The same for text without quotes.
std::string resolve_escapes(std::string_view text, const SourceRange& range);

}  // namespace flambeau::script::syntax
