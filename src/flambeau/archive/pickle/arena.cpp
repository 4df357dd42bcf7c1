#include "flambeau/archive/pickle/arena.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::pickle {

std::byte* Arena::allocate_slowly(size_t size) {
  // A large piece gets a block of its own, so that the rest of the current one is not lost.
  if (size > kLargestBlock / 4) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    return blocks_.back().get();
  }
  const size_t block = std::max(next_block_, size);
  next_block_ = std::min(next_block_ * 2, kLargestBlock);
  blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block));
  at_ = blocks_.back().get() + size;
  end_ = blocks_.back().get() + block;
  return blocks_.back().get();
}

void Arena::fail() const {
  throw Error(ErrorCode::kLimit,
              fmt::format("the pickle needs more than {} bytes of memory", limit_ + charged_),
              "raise the limit if the file is trusted");
}

}  // namespace flambeau::pickle
