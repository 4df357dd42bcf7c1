// Memory that is given out in pieces and freed at once: a tree of any depth is destroyed without a walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace flambeau::pickle {

class Arena {
 public:
  Arena() = default;
  Arena(Arena&& other) noexcept { *this = std::move(other); }
  Arena& operator=(Arena&& other) noexcept {
    blocks_ = std::move(other.blocks_);
    other.blocks_.clear();
    at_ = std::exchange(other.at_, nullptr);
    end_ = std::exchange(other.end_, nullptr);
    next_block_ = std::exchange(other.next_block_, kFirstBlock);
    used_ = std::exchange(other.used_, 0);
    limit_ = other.limit_;
    charged_ = other.charged_;
    return *this;
  }

  // Uninitialized room for `count` objects. Throws Error(kLimit) before allocating past the limit.
  template <typename T>
  T* allocate(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 8);
    constexpr size_t kSize = sizeof(T);  // NOLINT(bugprone-sizeof-expression): T may be a pointer
    if (count > std::numeric_limits<size_t>::max() / 2 / kSize) fail();
    const size_t size = (count * kSize + 7) & ~size_t{7};
    if (size > limit_ - used_) fail();
    used_ += size;
    if (size > static_cast<size_t>(end_ - at_)) return reinterpret_cast<T*>(allocate_slowly(size));
    return reinterpret_cast<T*>(std::exchange(at_, at_ + size));
  }

  // Takes from the limit what somebody else allocates for the same purpose. Throws Error(kLimit).
  void charge(uint64_t bytes) {
    if (bytes > limit_ - used_) fail();
    limit_ -= bytes;
    charged_ += bytes;
  }

  uint64_t used() const { return used_; }
  // At least what is used already.
  void set_limit(uint64_t limit) {
    limit_ = limit;
    charged_ = 0;
  }

 private:
  static constexpr size_t kFirstBlock = 4096;
  static constexpr size_t kLargestBlock = 65536;  // below malloc's threshold for a mapping of its own

  std::byte* allocate_slowly(size_t size);
  [[noreturn]] void fail() const;

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  size_t next_block_ = kFirstBlock;
  uint64_t used_ = 0;
  uint64_t limit_ = std::numeric_limits<uint64_t>::max();
  uint64_t charged_ = 0;
};

}  // namespace flambeau::pickle
