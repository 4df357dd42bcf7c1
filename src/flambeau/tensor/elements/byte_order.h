// Byte order: files from big-endian machines hold every word the other way round.
#pragma once

#include <cstddef>

#include "flambeau/base/bytes.h"

namespace flambeau {

// Reverses the bytes of each word in place; DTypeInfo::word is the word of an element type. `word` is 1,
// 2, 4, 8 or 16, and divides the length; otherwise Error(kInvalidArgument).
void swap_byte_order(MutableByteSpan bytes, size_t word);

}  // namespace flambeau
