#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "flambeau/tensor/elements/convert_rows.h"

#if defined(__F16C__)
#include <immintrin.h>
#else
#include "flambeau/tensor/elements/scalar_types.h"
#endif

namespace flambeau::FLAMBEAU_ISA {
namespace {

// A bool, of which every byte but 0 is true.
struct Truth {
  uint8_t byte;
};

// Rows of files may lie askew, so that no pointer is one to its elements.
template <typename T>
[[gnu::always_inline]] inline T load(const void* from, size_t i) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(from) + i * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
[[gnu::always_inline]] inline void store(void* to, size_t i, T value) {
  std::memcpy(static_cast<uint8_t*>(to) + i * sizeof(T), &value, sizeof(T));
}

template <typename T>
[[gnu::always_inline]] inline T number(T value) {
  return value;
}
[[gnu::always_inline]] inline uint8_t number(Truth value) { return value.byte != 0 ? 1 : 0; }

template <typename From, typename To>
void convert(const void* from, void* to, size_t count) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const auto value = number(load<From>(from, i));
    if constexpr (std::is_same_v<To, Truth>) {
      store(to, i, Truth{static_cast<uint8_t>(value != 0 ? 1 : 0)});
    } else {
      store(to, i, static_cast<To>(value));
    }
  }
}

void widen_bfloat16(const void* from, void* to, size_t count) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) store(to, i, static_cast<uint32_t>(load<uint16_t>(from, i)) << 16);
}
// To the nearest, halves to even.
void narrow_to_bfloat16(const void* from, void* to, size_t count) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const auto raw = load<uint32_t>(from, i);
    const uint32_t rounded = (raw + 0x7fffU + ((raw >> 16) & 1U)) >> 16;
    // Compared as signed numbers, for which SSE2 and AVX2 have an instruction.
    const bool is_nan = static_cast<int32_t>(raw & 0x7fffffffU) > 0x7f800000;
    store(to, i, static_cast<uint16_t>(is_nan ? 0x7fc0U : rounded));
  }
}

#if defined(__F16C__)
constexpr size_t kHalves = 8;  // that one instruction converts

[[gnu::always_inline]] inline void widen_halves(const uint8_t* from, uint8_t* to) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  _mm256_storeu_ps(reinterpret_cast<float*>(to), _mm256_cvtph_ps(halves));
}
[[gnu::always_inline]] inline void narrow_floats(const uint8_t* from, uint8_t* to) {
  const __m256 floats = _mm256_loadu_ps(reinterpret_cast<const float*>(from));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

// What is left at the end of a row is converted beside it.
template <size_t kFrom, size_t kTo, void (*kConvert)(const uint8_t*, uint8_t*)>
void convert_halves(const void* source, void* target, size_t count) {
  const auto* const from = static_cast<const uint8_t*>(source);
  auto* const to = static_cast<uint8_t*>(target);
  size_t i = 0;
  for (; i + kHalves <= count; i += kHalves) kConvert(from + i * kFrom, to + i * kTo);
  if (i == count) return;
  uint8_t last[kHalves * kFrom] = {};
  uint8_t made[kHalves * kTo];
  std::memcpy(last, from + i * kFrom, (count - i) * kFrom);
  kConvert(last, made);
  std::memcpy(to + i * kTo, made, (count - i) * kTo);
}
constexpr ConvertRow kWidenHalf = &convert_halves<2, 4, widen_halves>;
constexpr ConvertRow kNarrowToHalf = &convert_halves<4, 2, narrow_floats>;
#else
void widen_half(const void* from, void* to, size_t count) {
  for (size_t i = 0; i < count; ++i) store(to, i, load<Float16>(from, i).to_float());
}
void narrow_to_half(const void* from, void* to, size_t count) {
  for (size_t i = 0; i < count; ++i) store(to, i, Float16::from_float(load<float>(from, i)));
}
constexpr ConvertRow kWidenHalf = &widen_half;
constexpr ConvertRow kNarrowToHalf = &narrow_to_half;
#endif

template <typename From>
ConvertRow find_from(DType to) {
  constexpr bool kIsInteger = std::is_integral_v<From> || std::is_same_v<From, Truth>;
  switch (to) {
    case DType::kBool:
      return &convert<From, Truth>;
    case DType::kFloat32:
      return &convert<From, float>;
    case DType::kFloat64:
      return &convert<From, double>;
    case DType::kInt64:
      if constexpr (kIsInteger) return &convert<From, int64_t>;
      return nullptr;
    case DType::kInt32:
      if constexpr (kIsInteger) return &convert<From, int32_t>;
      return nullptr;
    case DType::kInt16:
      if constexpr (std::is_same_v<From, int64_t>) return &convert<From, int16_t>;
      return nullptr;
    case DType::kInt8:
    case DType::kUInt8:
      if constexpr (std::is_same_v<From, int64_t>) return &convert<From, uint8_t>;
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

ConvertRow find_convert_row(int from_type, int to_type) {
  const auto to = static_cast<DType>(to_type);
  switch (static_cast<DType>(from_type)) {
    case DType::kFloat16:
      return to == DType::kFloat32 ? kWidenHalf : nullptr;
    case DType::kBFloat16:
      return to == DType::kFloat32 ? &widen_bfloat16 : nullptr;
    case DType::kBool:
      return find_from<Truth>(to);
    case DType::kUInt8:
      return find_from<uint8_t>(to);
    case DType::kInt8:
      return find_from<int8_t>(to);
    case DType::kInt16:
      return find_from<int16_t>(to);
    case DType::kInt32:
      return find_from<int32_t>(to);
    case DType::kInt64:
      return find_from<int64_t>(to);
    case DType::kFloat32:
      if (to == DType::kFloat16) return kNarrowToHalf;
      return to == DType::kBFloat16 ? &narrow_to_bfloat16 : find_from<float>(to);
    case DType::kFloat64:
      return find_from<double>(to);
    default:
      return nullptr;
  }
}

}  // namespace flambeau::FLAMBEAU_ISA
