#include "flambeau/tensor/elements/byte_order.h"

#include <fmt/format.h>

#include <cstring>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

// The bytes need not be aligned; the compiler turns the copies into plain loads and stores.
template <typename Word>
void swap_words(MutableByteSpan bytes) {
  for (size_t i = 0; i < bytes.size(); i += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + i, sizeof(Word));
    if constexpr (sizeof(Word) == 2) {
      word = __builtin_bswap16(word);
    } else if constexpr (sizeof(Word) == 4) {
      word = __builtin_bswap32(word);
    } else {
      word = __builtin_bswap64(word);
    }
    std::memcpy(bytes.data() + i, &word, sizeof(Word));
  }
}

void swap_sixteens(MutableByteSpan bytes) {
  for (size_t i = 0; i < bytes.size(); i += 16) {
    uint64_t low = 0;
    uint64_t high = 0;
    std::memcpy(&low, bytes.data() + i, 8);
    std::memcpy(&high, bytes.data() + i + 8, 8);
    low = __builtin_bswap64(low);
    high = __builtin_bswap64(high);
    std::memcpy(bytes.data() + i, &high, 8);
    std::memcpy(bytes.data() + i + 8, &low, 8);
  }
}

}  // namespace

void swap_byte_order(MutableByteSpan bytes, size_t word) {
  const bool is_word = word == 1 || word == 2 || word == 4 || word == 8 || word == 16;
  if (!is_word || bytes.size() % word != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} bytes cannot be swapped as words of {}", bytes.size(), word));
  }
  switch (word) {
    case 2:
      return swap_words<uint16_t>(bytes);
    case 4:
      return swap_words<uint32_t>(bytes);
    case 8:
      return swap_words<uint64_t>(bytes);
    case 16:
      return swap_sixteens(bytes);
    default:
      return;
  }
}

}  // namespace flambeau
