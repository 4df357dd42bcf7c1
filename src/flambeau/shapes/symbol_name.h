// The names of symbols: PyTorch numbers the symbol of a size after a hash of where the size comes from, so
// that the same model gives the same names in every run.
#pragma once

#include <string_view>

namespace flambeau::trace {

// The number in the symbol of a source such as "L['x'].size()[0]", before it is moved out of the way of
// others: the hash modulo 100.
int symbol_number(std::string_view source);

}  // namespace flambeau::trace
