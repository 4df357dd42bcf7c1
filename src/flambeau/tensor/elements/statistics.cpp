#include "flambeau/tensor/elements/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/dequantize.h"
#include "flambeau/tensor/elements/hot_loops.h"
#include "flambeau/tensor/elements/strided_rows.h"
#include "flambeau/tensor/elements/wide_rows.h"

#if defined(__x86_64__)
#define FLAMBEAU_AVX2 __attribute__((target("avx2,f16c")))
#endif

namespace flambeau {
namespace {

__extension__ using Int128 = __int128;

// The unit of parallel work. Fixed, so that sums do not depend on the number of threads.
constexpr int64_t kPiece = int64_t{1} << 16;

// Neumaier's sum: the rounding errors are collected beside it.
struct CompensatedSum {
  double sum = 0;
  double lost = 0;

  void add(double value) {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  void add(const CompensatedSum& other) {
    add(other.sum);
    lost += other.lost;
  }
  double value() const { return std::isfinite(lost) ? sum + lost : sum; }
};

template <typename T>
struct Partial {
  T min = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::lowest();
  int64_t nan_count = 0;
  int64_t inf_count = 0;
  CompensatedSum sum;
  Int128 whole = 0;  // of integers

  void add(const Partial& other) {
    min = std::min(min, other.min);
    max = std::max(max, other.max);
    nan_count += other.nan_count;
    inf_count += other.inf_count;
    sum.add(other.sum);
    whole += other.whole;
  }
};

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
[[gnu::always_inline]] inline void measure_floats(const uint8_t* from, size_t count, Partial<T>& into) {
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
  into.sum.add(total);
}

template <typename T>
[[gnu::always_inline]] inline void measure_integers(const uint8_t* from, size_t count, bool is_narrow,
                                                    Partial<T>& into) {
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
[[gnu::always_inline]] inline void measure(const uint8_t* from, size_t count, bool is_narrow,
                                           Partial<T>& into) {
  if constexpr (std::is_floating_point_v<T>) {
    measure_floats<T>(from, count, into);
  } else if (is_narrow) {
    measure_integers<T>(from, count, true, into);
  } else {
    measure_integers<T>(from, count, false, into);
  }
}
template <typename T>
void measure_portable(const uint8_t* from, size_t count, bool is_narrow, Partial<T>& into) {
  measure(from, count, is_narrow, into);
}
#if defined(FLAMBEAU_AVX2)
template <typename T>
FLAMBEAU_AVX2 void measure_avx2(const uint8_t* from, size_t count, bool is_narrow, Partial<T>& into) {
  measure(from, count, is_narrow, into);
}
#endif

template <typename T>
auto best_measure() {
#if defined(FLAMBEAU_AVX2)
  if (has_avx2()) return &measure_avx2<T>;
#endif
  return &measure_portable<T>;
}

template <typename T>
Partial<T> measure_range(const Tensor& tensor, const StridedRows& rows, ByteSpan bytes, int64_t begin,
                         int64_t end) {
  Partial<T> partial;
  alignas(64) uint8_t wide[kWideBlock * sizeof(T)];
  const LoadRow load = load_row(tensor.dtype());
  const auto size = static_cast<ptrdiff_t>(tensor.element_size());
  const bool is_narrow = size < 8;
  const bool is_wide = std::is_same_v<T, float> ? tensor.dtype() == DType::kFloat32 : size == 8;
  const auto run = best_measure<T>();
  rows.for_each(begin, end, [&](int64_t at, int64_t stride, int64_t count, int64_t) {
    const uint8_t* from = bytes.data() + at * size;
    for (int64_t done = 0; done < count;) {
      const auto block = static_cast<size_t>(std::min<int64_t>(count - done, kWideBlock));
      const uint8_t* here = from + done * stride * size;
      if (is_wide && stride == 1) {
        run(here, block, is_narrow, partial);
      } else {
        load(here, stride * size, block, wide);
        run(wide, block, is_narrow, partial);
      }
      done += static_cast<int64_t>(block);
    }
  });
  return partial;
}

// Runs over the pieces of a tensor, in parallel, and adds up their results in order.
template <typename Result, typename Measure>
Result over_pieces(int64_t count, ThreadPool* pool, const Measure& measure_piece) {
  std::vector<Result> results(static_cast<size_t>(count / kPiece + (count % kPiece != 0 ? 1 : 0)));
  const auto range = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const int64_t first = static_cast<int64_t>(i) * kPiece;
      results[i] = measure_piece(first, std::min(count, first + kPiece));
    }
  };
  if (pool != nullptr) {
    pool->for_each_range(results.size(), 1, range);
  } else {
    range(0, results.size());
  }
  Result total;
  for (const Result& result : results) total.add(result);
  return total;
}

template <typename T>
Statistics measure_real(const Tensor& tensor, ThreadPool* pool) {
  const StridedRows rows(tensor.geometry());
  const ByteSpan bytes = tensor.storage()->bytes();
  const auto total = over_pieces<Partial<T>>(rows.count(), pool, [&](int64_t begin, int64_t end) {
    return measure_range<T>(tensor, rows, bytes, begin, end);
  });
  tensor.storage()->check_unchanged();
  Statistics result;
  result.count = rows.count();
  result.nan_count = total.nan_count;
  result.inf_count = total.inf_count;
  if (result.count > result.nan_count) {
    result.min = total.min;
    result.max = total.max;
  }
  const int64_t finite = result.count - result.nan_count - result.inf_count;
  if (finite > 0) {
    const double sum = std::is_floating_point_v<T> ? total.sum.value() : static_cast<double>(total.whole);
    result.mean = sum / static_cast<double>(finite);
  }
  return result;
}

// Complex numbers have no order; they are only counted.
template <typename T>
Statistics measure_complex(const Tensor& tensor) {
  const StridedRows rows(tensor.geometry());
  const ByteSpan bytes = tensor.storage()->bytes();
  const LoadRow load = load_row(part_dtype(tensor.dtype()));
  const auto size = static_cast<ptrdiff_t>(tensor.element_size());
  Statistics result;
  result.count = rows.count();
  rows.for_each(0, rows.count(), [&](int64_t at, int64_t stride, int64_t count, int64_t) {
    for (int64_t done = 0; done < count; ++done) {
      T parts[2];
      load(bytes.data() + (at + done * stride) * size, size / 2, 2, parts);
      if (std::isnan(parts[0]) || std::isnan(parts[1])) {
        ++result.nan_count;
      } else if (std::isinf(parts[0]) || std::isinf(parts[1])) {
        ++result.inf_count;
      }
    }
  });
  tensor.storage()->check_unchanged();
  return result;
}

}  // namespace

Statistics statistics(const Tensor& tensor, ThreadPool* pool) {
  if (!tensor.defined()) throw Error(ErrorCode::kInvalidArgument, "an undefined tensor has no values");
  if (tensor.layout() != Layout::kStrided) return statistics(tensor.sparse_parts()->values, pool);
  if (tensor.quantizer() != nullptr) return statistics(dequantize(tensor), pool);
  const Wide kind = wide_kind(tensor.dtype());
  if (dtype_info(tensor.dtype()).is_complex) {
    return kind == Wide::kFloat ? measure_complex<float>(tensor) : measure_complex<double>(tensor);
  }
  switch (kind) {
    case Wide::kFloat:
      return measure_real<float>(tensor, pool);
    case Wide::kDouble:
      return measure_real<double>(tensor, pool);
    case Wide::kInt64:
      return measure_real<int64_t>(tensor, pool);
    case Wide::kUInt64:
      return measure_real<uint64_t>(tensor, pool);
    case Wide::kNone:
      break;
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} has no numbers to take statistics of", tensor.summary()));
}

}  // namespace flambeau
