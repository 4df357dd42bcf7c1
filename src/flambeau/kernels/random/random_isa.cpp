// The Mersenne Twister by the vector, and the normal distribution over float. For this PyTorch takes the
// logarithm, sine and cosine from the Cephes library's polynomials, with each product and sum fused; the same
// steps give the same bits, so no step may be "improved".
#include <bit>
#include <cmath>
#include <cstdint>

#include "flambeau/kernels/random/loops.h"

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

inline float cephes_log(float x) {
  constexpr float kSmallestNormal = 0x1p-126F;
  x = x < kSmallestNormal ? kSmallestNormal : x;
  const auto bits = std::bit_cast<int32_t>(x);
  float e = static_cast<float>((bits >> 23) - 126);
  float f = std::bit_cast<float>((bits & 0x007fffff) | 0x3f000000);  // in [1/2, 1)
  const bool low = f < 0.707106781186547524F;
  e = e - (low ? 1.0F : 0.0F);
  f = (f - 1.0F) + (low ? f : 0.0F);
  const float z = f * f;
  float y = std::fma(7.0376836292E-2F, f, -1.1514610310E-1F);
  y = std::fma(y, f, 1.1676998740E-1F);
  y = std::fma(y, f, -1.2420140846E-1F);
  y = std::fma(y, f, 1.4249322787E-1F);
  y = std::fma(y, f, -1.6668057665E-1F);
  y = std::fma(y, f, 2.0000714765E-1F);
  y = std::fma(y, f, -2.4999993993E-1F);
  y = std::fma(y, f, 3.3333331174E-1F);
  y = std::fma(y * f, z, e * -2.12194440e-4F);
  y = std::fma(z, -0.5F, y);
  return std::fma(e, 0.693359375F, f + y);
}

struct SinCos {
  float sin;
  float cos;
};
// For x in [0, 2 pi].
inline SinCos cephes_sin_cos(float x) {
  const int32_t octant = (static_cast<int32_t>(x * 1.27323954473516F) + 1) & ~1;
  const auto y = static_cast<float>(octant);
  x = std::fma(y, -0.78515625F, x);
  x = std::fma(y, -2.4187564849853515625e-4F, x);
  x = std::fma(y, -3.77489497744594108e-8F, x);
  const float z = x * x;
  float c = std::fma(2.443315711809948E-005F, z, -1.388731625493765E-003F);
  c = std::fma(c, z, 4.166664568298827E-002F);
  c = std::fma(c * z, z, z * -0.5F) + 1.0F;
  float s = std::fma(-1.9515295891E-4F, z, 8.3321608736E-3F);
  s = std::fma(s, z, -1.6666654611E-1F);
  s = std::fma(s * z, x, x);
  const bool swapped = (octant & 2) != 0;
  const float sine = swapped ? c : s;
  const float cosine = swapped ? s : c;
  const int32_t sine_sign = (octant & 4) << 29;
  const int32_t cosine_sign = (~(octant - 2) & 4) << 29;
  return {std::bit_cast<float>(std::bit_cast<int32_t>(sine) ^ sine_sign),
          std::bit_cast<float>(std::bit_cast<int32_t>(cosine) ^ cosine_sign)};
}

inline uint32_t twist(uint32_t high, uint32_t low) {
  const uint32_t mixed = (high & 0x80000000) | (low & 0x7fffffff);
  return (mixed >> 1) ^ (0x9908b0df & (0 - (low & 1)));
}

}  // namespace

void refill_words(uint32_t* state) {
  constexpr int kWords = 624;
  constexpr int kAhead = 397;
  // Element i needs i + 1 as it was; the others it needs are 227 or more away, so that whole vectors can go.
#pragma GCC ivdep
  for (int i = 0; i < kWords - kAhead; ++i) state[i] = state[i + kAhead] ^ twist(state[i], state[i + 1]);
#pragma GCC ivdep
  for (int i = kWords - kAhead; i < kWords - 1; ++i) {
    state[i] = state[i + kAhead - kWords] ^ twist(state[i], state[i + 1]);
  }
  state[kWords - 1] = state[kAhead - 1] ^ twist(state[kWords - 1], state[0]);
}

void temper_words(const uint32_t* state, uint32_t* out, size_t n) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) {
    uint32_t y = state[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    out[i] = y ^ (y >> 18);
  }
}

void unit_floats(const uint32_t* words, float* out, size_t n) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<float>(static_cast<int32_t>(words[i] & 0xffffff)) * 0x1p-24F;
}

void normal_blocks(float* data, size_t blocks, float mean, float deviation) {
  for (size_t block = 0; block < blocks; ++block, data += 16) {
#pragma GCC ivdep
    for (size_t i = 0; i < 8; ++i) {
      const float radius = std::sqrt(-2.0F * cephes_log(1.0F - data[i]));
      const SinCos angle = cephes_sin_cos(6.28318530717958647692F * data[i + 8]);
      data[i] = std::fma(radius * angle.cos, deviation, mean);
      data[i + 8] = std::fma(radius * angle.sin, deviation, mean);
    }
  }
}

}  // namespace flambeau::kernels::FLAMBEAU_ISA
