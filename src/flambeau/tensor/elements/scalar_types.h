// The small floating-point formats as values: bits in, float32 out, and back, bit for bit as PyTorch
// does on x86. float64 goes through float32, so it is rounded twice, as in PyTorch.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace flambeau {
namespace small_float {

// Rounds a finite |float32| to the nearest value, ties to even, of a format with kMantissa bits after the
// point. The result has no upper limit: the caller handles what lies beyond the format's largest value.
template <int kMantissa, int kBias>
constexpr uint32_t round_magnitude(uint32_t magnitude) {
  constexpr int kDrop = 23 - kMantissa;
  const int exponent = static_cast<int>(magnitude >> 23) - 127 + kBias;
  if (exponent >= 1) {
    const uint32_t odd = (magnitude >> kDrop) & 1;
    return ((magnitude + ((1U << (kDrop - 1)) - 1) + odd) >> kDrop) -
           (static_cast<uint32_t>(127 - kBias) << kMantissa);
  }
  const int shift = kDrop + 1 - exponent;  // a subnormal result
  if (shift > 24) return 0;                // below half of the smallest one
  const uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  const uint32_t odd = (significand >> shift) & 1;
  return (significand + ((1U << (shift - 1)) - 1) + odd) >> shift;
}

// The float32 bits of a finite magnitude in such a format.
template <int kMantissa, int kBias>
constexpr uint32_t widen_magnitude(uint32_t magnitude) {
  uint32_t exponent = magnitude >> kMantissa;
  uint32_t fraction = magnitude & ((1U << kMantissa) - 1);
  if (exponent == 0) {
    if (fraction == 0) return 0;
    const int lead = std::countl_zero(fraction) - (32 - kMantissa);
    fraction = (fraction << (lead + 1)) & ((1U << kMantissa) - 1);
    return (static_cast<uint32_t>(127 - kBias - lead) << 23) | (fraction << (23 - kMantissa));
  }
  return ((exponent + 127 - kBias) << 23) | (fraction << (23 - kMantissa));
}

constexpr uint32_t kInfinity = 0x7f800000;

}  // namespace small_float

// IEEE half. NaNs keep their sign and upper payload bits and become quiet, as the processor's own
// instructions (F16C) have it; PyTorch built without those gives 0x7e00 plus the sign.
struct Float16 {
  uint16_t bits;

  static constexpr Float16 from_float(float value) {
    const auto raw = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (raw >> 16) & 0x8000;
    const uint32_t magnitude = raw & 0x7fffffff;
    uint32_t result = 0x7c00;
    if (magnitude > small_float::kInfinity) {
      result = 0x7e00 | ((magnitude >> 13) & 0x3ff);
    } else if (magnitude < 0x477ff000) {  // 65520, from which on everything rounds to infinity
      result = small_float::round_magnitude<10, 15>(magnitude);
    }
    return {static_cast<uint16_t>(sign | result)};
  }
  constexpr float to_float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t magnitude = bits & 0x7fff;
    uint32_t result = small_float::widen_magnitude<10, 15>(magnitude);
    if (magnitude >= 0x7c00) {
      result = small_float::kInfinity | ((magnitude & 0x3ff) << 13);
      if (magnitude > 0x7c00) result |= 0x400000;
    }
    return std::bit_cast<float>(sign | result);
  }
};

// The upper half of a float32. Every NaN becomes 0x7fc0; PyTorch's vectorized loops give 0xffff instead,
// so it disagrees with itself here depending on strides and on the processor.
struct BFloat16 {
  uint16_t bits;

  static constexpr BFloat16 from_float(float value) {
    const auto raw = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (raw + 0x7fff + ((raw >> 16) & 1)) >> 16;
    return {static_cast<uint16_t>((raw & 0x7fffffff) > small_float::kInfinity ? 0x7fc0 : rounded)};
  }
  constexpr float to_float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

// A sign bit, an exponent, kMantissa bits. kLargest is the largest finite magnitude; kOverflow is what
// larger finite and infinite values become; kNan what NaN becomes.
template <int kMantissa, int kBias, uint8_t kLargest, uint8_t kOverflow, uint8_t kNan, bool kUnsignedZero>
struct Float8 {
  uint8_t bits;

  static constexpr Float8 from_float(float value) {
    const auto raw = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint8_t>((raw >> 24) & 0x80);
    const uint32_t magnitude = raw & 0x7fffffff;
    if (magnitude > small_float::kInfinity) return {static_cast<uint8_t>(sign | kNan)};
    const uint32_t rounded = small_float::round_magnitude<kMantissa, kBias>(magnitude);
    if (rounded > kLargest) return {static_cast<uint8_t>(sign | kOverflow)};
    if (kUnsignedZero && rounded == 0) return {0};
    return {static_cast<uint8_t>(sign | rounded)};
  }
  constexpr float to_float() const { return std::bit_cast<float>(kWidened[bits]); }

 private:
  static constexpr uint32_t widen(uint32_t code) {
    const uint32_t magnitude = code & 0x7f;
    if (kUnsignedZero && code == 0x80) return 0x7f800001;  // the one NaN; PyTorch makes it signaling
    const uint32_t sign = (code & 0x80) << 24;
    if (magnitude > kLargest) {
      if (kOverflow > kLargest && magnitude == kOverflow) return sign | small_float::kInfinity;
      // Quiet, with the bits after the point as payload.
      const uint32_t payload = (magnitude & ((1U << kMantissa) - 1)) << (23 - kMantissa);
      return sign | small_float::kInfinity | 0x400000 | payload;
    }
    return sign | small_float::widen_magnitude<kMantissa, kBias>(magnitude);
  }
  static constexpr std::array<uint32_t, 256> kWidened = [] {
    std::array<uint32_t, 256> widened{};
    for (uint32_t code = 0; code < 256; ++code) widened[code] = widen(code);
    return widened;
  }();
};

// Saturates: infinity becomes 448 as well, as in PyTorch 2.13; earlier releases made it NaN.
using Float8E4M3FN = Float8<3, 7, 0x7e, 0x7e, 0x7f, false>;
using Float8E5M2 = Float8<2, 15, 0x7b, 0x7c, 0x7f, false>;
// No infinity, no negative zero: 0x80 is NaN, and stands for everything out of range.
using Float8E4M3FNUZ = Float8<3, 8, 0x7f, 0x80, 0x80, true>;
using Float8E5M2FNUZ = Float8<2, 16, 0x7f, 0x80, 0x80, true>;

// A power of two: only the exponent of a float32. The sign is dropped; 0xff is NaN.
struct Float8E8M0FNU {
  uint8_t bits;

  static constexpr Float8E8M0FNU from_float(float value) {
    const auto raw = std::bit_cast<uint32_t>(value);
    uint32_t exponent = (raw >> 23) & 0xff;
    const uint32_t fraction = raw & 0x7fffff;
    // Halfway goes up, except from the lowest exponent, where there is nothing to be even with.
    if (exponent != 0xff && (fraction > 0x400000 || (fraction == 0x400000 && exponent > 0))) ++exponent;
    return {static_cast<uint8_t>(exponent)};
  }
  constexpr float to_float() const {
    if (bits == 0xff) return std::bit_cast<float>(uint32_t{0x7f800001});
    return std::bit_cast<float>(bits == 0 ? uint32_t{0x400000} : static_cast<uint32_t>(bits) << 23);
  }
};

}  // namespace flambeau
