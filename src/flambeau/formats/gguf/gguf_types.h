// The element types of GGUF: their numbers, the blocks they come in, and how blocks become float32.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "flambeau/base/bytes.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau {

struct GgufType {
  uint32_t number;
  std::string_view name;
  uint32_t elements;                            // of a block; 1 for plain types
  uint32_t bytes;                               // of a block
  std::optional<DType> dtype = {};              // of a plain type
  void (*decode)(const uint8_t*, float*) = {};  // one block; null where nobody here knows how
};

// Null for a number that is no type.
const GgufType* find_gguf_type(uint32_t number);

}  // namespace flambeau
