#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "flambeau/ops/engines/convert_rows.h"

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

// Any number but 0 is true.
struct Truth {
  uint8_t byte;
};

template <typename From, typename To>
void convert(const void* source, void* target, size_t count) {
  const auto* const from = static_cast<const From*>(source);
  auto* const to = static_cast<To*>(target);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<To, Truth>) {
      to[i].byte = from[i] != From(0) ? 1 : 0;
    } else {
      to[i] = static_cast<To>(from[i]);
    }
  }
}

void widen_bfloat16(const void* source, void* target, size_t count) {
  const auto* const from = static_cast<const uint16_t*>(source);
  auto* const to = static_cast<uint32_t*>(target);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<uint32_t>(from[i]) << 16;
}
// To the nearest, halves to even.
void narrow_to_bfloat16(const void* source, void* target, size_t count) {
  const auto* const from = static_cast<const uint32_t*>(source);
  auto* const to = static_cast<uint16_t*>(target);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const uint32_t raw = from[i];
    const uint32_t rounded = (raw + 0x7fffU + ((raw >> 16) & 1U)) >> 16;
    const bool is_nan = static_cast<int32_t>(raw & 0x7fffffffU) > 0x7f800000;
    to[i] = static_cast<uint16_t>(is_nan ? 0x7fc0U : rounded);
  }
}

template <typename From>
ConvertRow find_from(DType to) {
  constexpr bool kIsInteger = std::is_integral_v<From>;
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
    case DType::kBFloat16:
      return to == DType::kFloat32 ? &widen_bfloat16 : nullptr;
    case DType::kBool:
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
      return to == DType::kBFloat16 ? &narrow_to_bfloat16 : find_from<float>(to);
    case DType::kFloat64:
      return find_from<double>(to);
    default:
      return nullptr;
  }
}

}  // namespace flambeau::ops::FLAMBEAU_ISA
