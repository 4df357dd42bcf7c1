// The words of JSON as Python's json.dumps spells them, to the byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flambeau::json {

// Python's repr: the shortest digits that read back, as a plain number from 1e-4 to below 1e16; NaN, Infinity
// and -Infinity bare.
void append_double(std::string& to, double value);
void append_integer(std::string& to, int64_t value);
// In quotes; everything outside printable ASCII is escaped. Throws Error(kInvalidArgument) for text that is
// not UTF-8.
void append_string(std::string& to, std::string_view text);

}  // namespace flambeau::json
