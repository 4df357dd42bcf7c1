#include "flambeau/kernels/random/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "flambeau/base/error.h"
#include "flambeau/kernels/random/loops.h"

namespace flambeau::kernels {
namespace {

// Where PyTorch's state has what: two C structures written as they lie in memory on a 64-bit machine.
constexpr size_t kSeedAt = 0;
constexpr size_t kLeftAt = 8;
constexpr size_t kSeededAt = 12;
constexpr size_t kNextAt = 16;
constexpr size_t kWordsAt = 24;  // 64 bits each
constexpr size_t kNormalYAt = kWordsAt + size_t{624} * 8 + 8;
constexpr size_t kNormalValidAt = kNormalYAt + 16;
constexpr size_t kFloatAt = kNormalValidAt + 8;
constexpr size_t kFloatValidAt = kFloatAt + 4;
static_assert(kFloatValidAt + 4 == Generator::kStateSize);

template <typename T>
void store(uint8_t* at, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<uint8_t>(value >> (8 * i));
}
template <typename T>
T load(const uint8_t* at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(at[i]) << (8 * i);
  return value;
}

}  // namespace

void Generator::manual_seed(uint64_t seed) {
  seed_ = seed;
  left_ = 1;
  next_ = 0;
  state_[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253 * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  next_double_.reset();
  next_float_.reset();
}

void Generator::refill() {
  left_ = kWords;
  next_ = 0;
  FLAMBEAU_PICK(refill_words)(state_.data());
}

void Generator::random(uint32_t* out, size_t n) {
  const auto temper = FLAMBEAU_PICK(temper_words);
  while (n != 0) {
    if (left_ == 1) {
      refill();
      ++left_;  // refill leaves room for the decrement of a single draw
    }
    const size_t count = std::min(n, static_cast<size_t>(left_ - 1));
    temper(&state_[next_], out, count);
    next_ += static_cast<uint32_t>(count);
    left_ -= static_cast<int32_t>(count);
    out += count;
    n -= count;
  }
}

double Generator::normal_double() {
  if (next_double_) {
    const double kept = *next_double_;
    next_double_.reset();
    return kept;
  }
  const double angle = 2.0 * std::numbers::pi * uniform_double();
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform_double()));
  next_double_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

std::array<uint8_t, Generator::kStateSize> Generator::state() const {
  std::array<uint8_t, kStateSize> bytes{};
  store(&bytes[kSeedAt], seed_);
  store(&bytes[kLeftAt], static_cast<uint32_t>(left_));
  bytes[kSeededAt] = 1;
  store(&bytes[kNextAt], uint64_t{next_});
  for (size_t i = 0; i < kWords; ++i) store(&bytes[kWordsAt + 8 * i], uint64_t{state_[i]});
  if (next_double_) {
    store(&bytes[kNormalYAt], std::bit_cast<uint64_t>(*next_double_));
    bytes[kNormalValidAt] = 1;
  }
  if (next_float_) {
    store(&bytes[kFloatAt], std::bit_cast<uint32_t>(*next_float_));
    bytes[kFloatValidAt] = 1;
  }
  return bytes;
}

void Generator::set_state(ByteSpan bytes) {
  if (bytes.size() != kStateSize) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the random state has {} bytes, a state of PyTorch's CPU generator has {}",
                            bytes.size(), kStateSize));
  }
  const auto left = std::bit_cast<int32_t>(load<uint32_t>(&bytes[kLeftAt]));
  const auto next = static_cast<uint32_t>(load<uint64_t>(&bytes[kNextAt]));
  if (load<uint32_t>(&bytes[kSeededAt]) == 0 || left <= 0 || left > kWords || next > kWords ||
      // The number of words that are left says where the next one is; left = 1 only asks for new ones.
      (left > 1 && next + static_cast<uint32_t>(left) > kWords + 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the random state says that {} words are left and the next is word {} of {}",
                            left, next, kWords));
  }
  seed_ = load<uint64_t>(&bytes[kSeedAt]);
  left_ = left;
  next_ = next;
  for (size_t i = 0; i < kWords; ++i)
    state_[i] = static_cast<uint32_t>(load<uint64_t>(&bytes[kWordsAt + 8 * i]));
  next_double_.reset();
  next_float_.reset();
  if (load<uint32_t>(&bytes[kNormalValidAt]) != 0) {
    next_double_ = std::bit_cast<double>(load<uint64_t>(&bytes[kNormalYAt]));
  }
  if (bytes[kFloatValidAt] != 0) next_float_ = std::bit_cast<float>(load<uint32_t>(&bytes[kFloatAt]));
}

}  // namespace flambeau::kernels
