#include "flambeau/tensor/elements/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/dequantize.h"
#include "flambeau/tensor/elements/statistics_loops.h"
#include "flambeau/tensor/elements/strided_rows.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau {
namespace {

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
struct Partial : Measured<T> {
  CompensatedSum sum;

  void add(const Partial& other) {
    join(other);
    sum.add(other.sum);
  }
  void add(const Measured<T>& block) {
    join(block);
    sum.add(block.total);
  }

 private:
  void join(const Measured<T>& other) {
    this->min = std::min(this->min, other.min);
    this->max = std::max(this->max, other.max);
    this->nan_count += other.nan_count;
    this->inf_count += other.inf_count;
    this->whole += other.whole;
  }
};

template <typename T>
Partial<T> measure_range(const Tensor& tensor, const StridedRows& rows, ByteSpan bytes, int64_t begin,
                         int64_t end) {
  Partial<T> partial;
  alignas(64) uint8_t wide[kWideBlock * sizeof(T)];
  const LoadRow load = load_row(tensor.dtype());
  const auto size = static_cast<ptrdiff_t>(tensor.element_size());
  const bool is_narrow = size < 8;
  const bool is_wide = std::is_same_v<T, float> ? tensor.dtype() == DType::kFloat32 : size == 8;
  const auto measure = find_measure<T>();
  const auto run = [&](const uint8_t* from, size_t count) {
    Measured<T> block;
    measure(from, count, is_narrow, block);
    partial.add(block);
  };
  rows.for_each(begin, end, [&](int64_t at, int64_t stride, int64_t count, int64_t) {
    const uint8_t* from = bytes.data() + at * size;
    for (int64_t done = 0; done < count;) {
      const auto block = static_cast<size_t>(std::min<int64_t>(count - done, kWideBlock));
      const uint8_t* here = from + done * stride * size;
      if (is_wide && stride == 1) {
        run(here, block);
      } else {
        load(here, stride * size, block, wide);
        run(wide, block);
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
  if (!is_plain(tensor.dtype())) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} has no numbers to take statistics of", tensor.summary()));
  }
  switch (compute_type(tensor.dtype())) {
    case Compute::kFloat:
      return measure_real<float>(tensor, pool);
    case Compute::kDouble:
      return measure_real<double>(tensor, pool);
    case Compute::kInt64:
      return measure_real<int64_t>(tensor, pool);
    case Compute::kUInt64:
      return measure_real<uint64_t>(tensor, pool);
    case Compute::kComplexFloat:
      return measure_complex<float>(tensor);
    case Compute::kComplexDouble:
      return measure_complex<double>(tensor);
  }
  return {};
}

}  // namespace flambeau
