// The names of symbols: PyTorch numbers the symbol of a size after a hash of where the size comes from, so
// that the same model gives the same names in every run.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace flambeau::trace {

// SHA-256 of the text's bytes.
std::array<uint8_t, 32> sha256(std::string_view text);

// The number in the symbol of a source such as "L['x'].size()[0]", before it is moved out of the way of
// others: the hash modulo 100.
int symbol_number(std::string_view source);

}  // namespace flambeau::trace
