#include "flambeau/tensor/elements/hot_loops.h"

#include <cstring>

#include "flambeau/tensor/elements/scalar_types.h"

#if defined(__x86_64__)
#include <immintrin.h>
// Only the marked functions use these instructions; the rest of the library runs on any x86-64.
#define FLAMBEAU_AVX2 __attribute__((target("avx2,f16c")))
#endif

namespace flambeau {
namespace {

template <typename T>
[[gnu::always_inline]] inline T load(const uint8_t* from, size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
[[gnu::always_inline]] inline void store(uint8_t* to, size_t i, T value) {
  std::memcpy(to + i * sizeof(T), &value, sizeof(T));
}

void half_to_float(const uint8_t* from, uint8_t* to, size_t begin, size_t count) {
  for (size_t i = begin; i < count; ++i) store(to, i, load<Float16>(from, i).to_float());
}
void float_to_half(const uint8_t* from, uint8_t* to, size_t begin, size_t count) {
  for (size_t i = begin; i < count; ++i) store(to, i, Float16::from_float(load<float>(from, i)));
}
// These three are simple enough for the compiler to vectorize, for whichever target they are inlined into.
[[gnu::always_inline]] inline void bfloat16_to_float(const uint8_t* __restrict from, uint8_t* __restrict to,
                                                     size_t count) {
  for (size_t i = 0; i < count; ++i) store(to, i, static_cast<uint32_t>(load<uint16_t>(from, i)) << 16);
}
[[gnu::always_inline]] inline void float_to_bfloat16(const uint8_t* __restrict from, uint8_t* __restrict to,
                                                     size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const auto raw = load<uint32_t>(from, i);
    const uint32_t rounded = (raw + 0x7fff + ((raw >> 16) & 1)) >> 16;
    // Compared as signed numbers, for which SSE2 and AVX2 have an instruction.
    const bool is_nan = static_cast<int32_t>(raw & 0x7fffffff) > 0x7f800000;
    store(to, i, static_cast<uint16_t>(is_nan ? 0x7fc0U : rounded));
  }
}
[[gnu::always_inline]] inline void double_to_float(const uint8_t* __restrict from, uint8_t* __restrict to,
                                                   size_t count) {
  for (size_t i = 0; i < count; ++i) store(to, i, static_cast<float>(load<double>(from, i)));
}

#if defined(FLAMBEAU_AVX2)

FLAMBEAU_AVX2 size_t half_to_float_avx2(const uint8_t* from, uint8_t* to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * 2));
    _mm256_storeu_ps(reinterpret_cast<float*>(to + i * 4), _mm256_cvtph_ps(half));
  }
  return i;
}
FLAMBEAU_AVX2 size_t float_to_half_avx2(const uint8_t* from, uint8_t* to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 value = _mm256_loadu_ps(reinterpret_cast<const float*>(from + i * 4));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * 2),
                     _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  return i;
}
FLAMBEAU_AVX2 void bfloat16_to_float_avx2(const uint8_t* from, uint8_t* to, size_t count) {
  bfloat16_to_float(from, to, count);
}
FLAMBEAU_AVX2 void float_to_bfloat16_avx2(const uint8_t* from, uint8_t* to, size_t count) {
  float_to_bfloat16(from, to, count);
}
FLAMBEAU_AVX2 void double_to_float_avx2(const uint8_t* from, uint8_t* to, size_t count) {
  double_to_float(from, to, count);
}

#endif

}  // namespace

bool has_avx2() {
#if defined(FLAMBEAU_AVX2)
  // Every processor with AVX2 has F16C, a name that clang 16 does not know here.
  static const bool found = __builtin_cpu_supports("avx2");
  return found;
#else
  return false;
#endif
}

void convert_half_to_float(const uint8_t* from, uint8_t* to, size_t count) {
  size_t begin = 0;
#if defined(FLAMBEAU_AVX2)
  if (has_avx2()) begin = half_to_float_avx2(from, to, count);
#endif
  half_to_float(from, to, begin, count);
}

void convert_float_to_half(const uint8_t* from, uint8_t* to, size_t count) {
  size_t begin = 0;
#if defined(FLAMBEAU_AVX2)
  if (has_avx2()) begin = float_to_half_avx2(from, to, count);
#endif
  float_to_half(from, to, begin, count);
}

void convert_bfloat16_to_float(const uint8_t* from, uint8_t* to, size_t count) {
#if defined(FLAMBEAU_AVX2)
  if (has_avx2()) return bfloat16_to_float_avx2(from, to, count);
#endif
  bfloat16_to_float(from, to, count);
}

void convert_float_to_bfloat16(const uint8_t* from, uint8_t* to, size_t count) {
#if defined(FLAMBEAU_AVX2)
  if (has_avx2()) return float_to_bfloat16_avx2(from, to, count);
#endif
  float_to_bfloat16(from, to, count);
}

void convert_double_to_float(const uint8_t* from, uint8_t* to, size_t count) {
#if defined(FLAMBEAU_AVX2)
  if (has_avx2()) return double_to_float_avx2(from, to, count);
#endif
  double_to_float(from, to, count);
}

}  // namespace flambeau
