#include "flambeau/shapes/symbol_name.h"

#include "flambeau/base/sha256.h"

namespace flambeau::trace {

int symbol_number(std::string_view source) {
  int remainder = 0;
  for (const uint8_t byte : Sha256::of(source)) remainder = (remainder * 256 + byte) % 100;
  return remainder;
}

}  // namespace flambeau::trace
