// The texts of protocol 0: numbers in decimal and strings with escapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flambeau::pickle {

// Python refuses to read longer ones too: the conversion takes quadratic time.
constexpr size_t kMostDigits = 4300;

// "-12" as two's complement, little-endian; nothing for what is no decimal number of at most kMostDigits.
std::optional<std::vector<uint8_t>> decimal_to_twos_complement(std::string_view text);

// "1.5", "-inf", "nan" as Python's repr writes it; nothing for other text or a number out of range.
std::optional<double> decimal_to_double(std::string_view text);

// The inside of a quoted Python bytes literal, backslash escapes resolved; nothing for a broken escape.
std::optional<std::string> unescape_bytes(std::string_view text);

// Python's raw-unicode-escape: Latin-1 with \uXXXX and \UXXXXXXXX. Gives UTF-8 (surrogates possible).
std::optional<std::string> unescape_raw_unicode(std::string_view text);

// U+0000 to U+10FFFF; a surrogate is encoded like any other code point, as "surrogatepass" does.
void append_utf8(std::string& out, uint32_t code_point);

}  // namespace flambeau::pickle
