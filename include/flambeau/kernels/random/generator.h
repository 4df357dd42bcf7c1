// PyTorch's CPU random number generator: the same seed gives the same bits, and its saved state
// (torch.get_rng_state()) can be taken up and given back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "flambeau/base/bytes.h"

namespace flambeau::kernels {

class Generator {
 public:
  // The seed a PyTorch generator starts with until it is given another.
  static constexpr uint64_t kDefaultSeed = 67280421310721;
  // Bytes of a saved state.
  static constexpr size_t kStateSize = 5056;

  explicit Generator(uint64_t seed = kDefaultSeed) { manual_seed(seed); }

  // Starts over: only the lower 32 bits of the seed matter to the numbers.
  void manual_seed(uint64_t seed);
  uint64_t initial_seed() const { return seed_; }

  uint32_t random() {
    if (--left_ == 0) refill();
    uint32_t y = state_[next_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return y ^ (y >> 18);
  }
  // The next n at once, faster.
  void random(uint32_t* out, size_t n);
  uint64_t random64() {
    const uint64_t high = random();
    return high << 32 | random();
  }
  // In [0, 1), from the 24 or 53 low bits.
  float uniform_float() { return static_cast<float>(random() & 0xffffff) * 0x1p-24F; }
  double uniform_double() { return static_cast<double>(random64() & 0x1fffffffffffff) * 0x1p-53; }
  // One number of the standard normal distribution. They are made in pairs; the second is kept for the next
  // call.
  double normal_double();

  // PyTorch's format, little-endian.
  std::array<uint8_t, kStateSize> state() const;
  // Throws Error (kInvalidArgument) unless the bytes are such a state.
  void set_state(ByteSpan bytes);

 private:
  static constexpr int kWords = 624;

  void refill();

  uint64_t seed_ = 0;
  int32_t left_ = 1;
  uint32_t next_ = 0;
  std::array<uint32_t, kWords> state_{};
  std::optional<double> next_double_;
  std::optional<float> next_float_;  // old states may have one; kept to give it back
};

}  // namespace flambeau::kernels
