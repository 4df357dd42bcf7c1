#include "flambeau/tensor/elements/wide_rows.h"

#include <cstring>
#include <limits>

#include "flambeau/tensor/elements/convert_rows.h"
#include "flambeau/tensor/elements/element_types.h"

namespace flambeau {
namespace {

// ---- into the wide types

template <typename T>
auto widen(T value) {
  if constexpr (std::is_same_v<T, BoolByte>) {
    return static_cast<int64_t>(value.bits != 0);
  } else if constexpr (kIsSmallFloat<T>) {
    return value.to_float();
  } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, uint64_t>) {
    return value;
  } else {
    return static_cast<int64_t>(value);
  }
}

template <typename T>
void load_wide(const uint8_t* from, ptrdiff_t step, size_t count, void* wide) {
  auto* to = static_cast<decltype(widen(T{}))*>(wide);
  if (step == sizeof(T)) {
    if constexpr (std::is_same_v<T, Float16>) {
      find_convert_row(DType::kFloat16, DType::kFloat32)(from, wide, count);
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      find_convert_row(DType::kBFloat16, DType::kFloat32)(from, wide, count);
    } else {
      for (size_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, from + i * sizeof(T), sizeof(T));
        to[i] = widen(value);
      }
    }
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + static_cast<ptrdiff_t>(i) * step, sizeof(T));
    to[i] = widen(value);
  }
}

// ---- out of them

// x86's own conversions: truncation, and the lowest number for everything out of range and for NaN.
template <typename Float>
int32_t to_int32(Float value) {
  constexpr Float kEnd = 2147483648.0F;
  return value >= -kEnd && value < kEnd ? static_cast<int32_t>(value) : std::numeric_limits<int32_t>::min();
}
template <typename Float>
int64_t to_int64(Float value) {
  constexpr Float kEnd = 9223372036854775808.0F;
  return value >= -kEnd && value < kEnd ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
}
template <typename Float>
uint64_t to_uint64(Float value) {
  constexpr Float kHalf = 9223372036854775808.0F;
  // Beyond 2^63 compilers subtract it, convert, and put the bit back: from 2^64 on that gives 0.
  if (value >= kHalf) return static_cast<uint64_t>(to_int64(value - kHalf)) ^ (uint64_t{1} << 63);
  return static_cast<uint64_t>(to_int64(value));
}

template <typename T, typename From>
T narrow(From value) {
  if constexpr (std::is_same_v<T, BoolByte>) {
    return {static_cast<uint8_t>(value != 0)};  // true for NaN, false for -0
  } else if constexpr (kIsSmallFloat<T>) {
    return T::from_float(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From>) {
    if constexpr (std::is_same_v<T, uint64_t>) {
      return to_uint64(value);
    } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint32_t> ||
                         std::is_same_v<T, uint8_t>) {
      return static_cast<T>(to_int64(value));
    } else {
      return static_cast<T>(to_int32(value));
    }
  } else {
    return static_cast<T>(value);
  }
}

template <typename From, typename T>
void store(const void* wide, size_t count, uint8_t* to, ptrdiff_t step) {
  const auto* from = static_cast<const From*>(wide);
  if (step == sizeof(T)) {
    if constexpr (std::is_same_v<From, float> && std::is_same_v<T, Float16>) {
      find_convert_row(DType::kFloat32, DType::kFloat16)(wide, to, count);
    } else if constexpr (std::is_same_v<From, float> && std::is_same_v<T, BFloat16>) {
      find_convert_row(DType::kFloat32, DType::kBFloat16)(wide, to, count);
    } else {
      for (size_t i = 0; i < count; ++i) {
        const T value = narrow<T>(from[i]);
        std::memcpy(to + i * sizeof(T), &value, sizeof(T));
      }
    }
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const T value = narrow<T>(from[i]);
    std::memcpy(to + static_cast<ptrdiff_t>(i) * step, &value, sizeof(T));
  }
}

template <typename From>
StoreRow store_from(DType part) {
  return with_element_type<StoreRow>(part, nullptr, [](auto type) { return &store<From, decltype(type)>; });
}

}  // namespace

DType part_dtype(DType dtype) {
  switch (dtype) {
    case DType::kComplex32:
      return DType::kFloat16;
    case DType::kComplex64:
      return DType::kFloat32;
    case DType::kComplex128:
      return DType::kFloat64;
    default:
      return dtype;
  }
}

LoadRow load_row(DType part) {
  return with_element_type<LoadRow>(part, nullptr, [](auto type) { return &load_wide<decltype(type)>; });
}

StoreRow store_row(Compute from, DType part) {
  switch (from) {
    case Compute::kFloat:
      return store_from<float>(part);
    case Compute::kDouble:
      return store_from<double>(part);
    case Compute::kInt64:
      return store_from<int64_t>(part);
    case Compute::kUInt64:
      return store_from<uint64_t>(part);
    case Compute::kComplexFloat:
    case Compute::kComplexDouble:
      break;
  }
  return nullptr;
}

}  // namespace flambeau
