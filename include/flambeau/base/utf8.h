// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace flambeau {

// Length (1 to 4) of the valid sequence at the start of `text`; 0 when there is none.
size_t utf8_sequence_length(std::string_view text);

bool is_valid_utf8(std::string_view text);

// As is_valid_utf8, but lets encoded surrogates (U+D800 to U+DFFF) through, as Python's
// "surrogatepass" does: pickles hold such strings.
bool is_valid_utf8_with_surrogates(std::string_view text);

}  // namespace flambeau
