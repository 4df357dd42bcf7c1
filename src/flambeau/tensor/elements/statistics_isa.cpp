#include <algorithm>
#include <cmath>
#include <cstring>

#include "flambeau/tensor/elements/statistics_loops.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

// Vectors in the compiler's own notation, which it lowers to whatever the target has.
template <typename T>
struct Lanes;
template <>
struct Lanes<float> {
  static constexpr size_t kCount = 8;
  static constexpr int32_t kMagnitude = 0x7fffffff;
  static constexpr int32_t kInfinity = 0x7f800000;
  typedef float Value __attribute__((vector_size(32)));
  typedef int32_t Bits __attribute__((vector_size(32)));
  typedef float Half __attribute__((vector_size(16)));  // as many as there are sums
};
template <>
struct Lanes<double> {
  static constexpr size_t kCount = 4;
  static constexpr int64_t kMagnitude = 0x7fffffffffffffff;
  static constexpr int64_t kInfinity = 0x7ff0000000000000;
  typedef double Value __attribute__((vector_size(32)));
  typedef int64_t Bits __attribute__((vector_size(32)));
  typedef double Half __attribute__((vector_size(32)));
};
typedef double Sums __attribute__((vector_size(32)));

template <typename T>
[[gnu::always_inline]] inline void measure_floats(const uint8_t* from, size_t count, Measured<T>& into) {
  using L = Lanes<T>;
  typename L::Value low = into.min - typename L::Value{};
  typename L::Value high = into.max - typename L::Value{};
  typename L::Bits nan_count = {};
  typename L::Bits odd_count = {};
  Sums sum = {};
  size_t i = 0;
  for (; i + L::kCount <= count; i += L::kCount) {
    typename L::Value value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(value));
    low = value < low ? value : low;  // NaN compares false and is passed over
    high = value > high ? value : high;
    nan_count -= value != value;  // a true lane is -1
    typename L::Bits bits;
    std::memcpy(&bits, &value, sizeof(bits));
    const typename L::Bits is_odd = (bits & L::kMagnitude) >= L::kInfinity;
    odd_count -= is_odd;
    bits &= ~is_odd;
    typename L::Half halves[sizeof(bits) / sizeof(typename L::Half)];
    std::memcpy(&halves, &bits, sizeof(bits));
    for (const typename L::Half& half : halves) sum += __builtin_convertvector(half, Sums);
  }
  double total = 0;
  for (size_t lane = 0; lane < L::kCount; ++lane) {
    into.min = std::min<T>(into.min, low[lane]);
    into.max = std::max<T>(into.max, high[lane]);
    into.nan_count += nan_count[lane];
    into.inf_count += odd_count[lane] - nan_count[lane];
  }
  for (size_t lane = 0; lane < 4; ++lane) total += sum[lane];
  for (; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    if (std::isnan(value)) {
      ++into.nan_count;
      continue;
    }
    into.min = std::min(into.min, value);
    into.max = std::max(into.max, value);
    if (std::isinf(value)) {
      ++into.inf_count;
    } else {
      total += value;
    }
  }
  into.total = total;
}

template <typename T>
[[gnu::always_inline]] inline void measure_integers(const uint8_t* from, size_t count, bool is_narrow,
                                                    Measured<T>& into) {
  T low = into.min;
  T high = into.max;
  T narrow_sum = 0;  // cannot wrap: a block of 32-bit numbers at most
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    low = std::min(low, value);
    high = std::max(high, value);
  }
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    if (is_narrow) {
      narrow_sum += value;
    } else {
      into.whole += value;
    }
  }
  into.whole += narrow_sum;
  into.min = low;
  into.max = high;
}

template <typename T>
[[gnu::always_inline]] inline void measure_whole(const uint8_t* from, size_t count, bool is_narrow,
                                                 Measured<T>& into) {
  if (is_narrow) {
    measure_integers<T>(from, count, true, into);
  } else {
    measure_integers<T>(from, count, false, into);
  }
}

}  // namespace

void measure_float(const uint8_t* from, size_t count, bool, Measured<float>& measured) {
  measure_floats<float>(from, count, measured);
}
void measure_double(const uint8_t* from, size_t count, bool, Measured<double>& measured) {
  measure_floats<double>(from, count, measured);
}
void measure_int64(const uint8_t* from, size_t count, bool is_narrow, Measured<int64_t>& measured) {
  measure_whole(from, count, is_narrow, measured);
}
void measure_uint64(const uint8_t* from, size_t count, bool is_narrow, Measured<uint64_t>& measured) {
  measure_whole(from, count, is_narrow, measured);
}

}  // namespace flambeau::FLAMBEAU_ISA
