// Inner loops of matrix products of real numbers: a tile of the result lives in vector registers while one
// column of the left panel and one row of the right panel are multiplied at a time.
#include <array>
#include <utility>

#include "flambeau/kernels/gemm/kernels.h"
#include "flambeau/kernels/vectors_isa.h"

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

// Two vectors a row; the number of rows is what the registers hold beside two of the right side and one
// broadcast element.
#if defined(__AVX512F__)
constexpr int kRows = 14;
#else
constexpr int kRows = 6;
#endif

// Few rows cannot keep the multipliers busy with one sum per result element, so those take turns among
// several sums over the depth.
constexpr int sums_for(int rows) { return rows <= 1 ? 4 : rows <= 3 ? 2 : 1; }

template <typename T, int kTileRows>
void tile(int64_t depth, const T* __restrict left, const T* __restrict right, int64_t right_step,
          T* __restrict out, int64_t out_step, bool accumulate) {
  constexpr int kSums = sums_for(kTileRows);
  Vector<T> sum[kSums][kTileRows][2] = {};
  int64_t d = 0;
  for (; d + kSums <= depth; d += kSums) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; ++s) {
      const Vector<T> right0 = load(right);
      const Vector<T> right1 = load(right + kLanes<T>);
#pragma GCC unroll 14
      for (int r = 0; r < kTileRows; ++r) {
        sum[s][r][0] += left[r] * right0;
        sum[s][r][1] += left[r] * right1;
      }
      left += kTileRows;
      right += right_step;
    }
  }
  if constexpr (kSums > 1) {
    for (; d < depth; ++d) {
      const Vector<T> right0 = load(right);
      const Vector<T> right1 = load(right + kLanes<T>);
#pragma GCC unroll 4
      for (int r = 0; r < kTileRows; ++r) {
        sum[0][r][0] += left[r] * right0;
        sum[0][r][1] += left[r] * right1;
      }
      left += kTileRows;
      right += right_step;
    }
#pragma GCC unroll 4
    for (int s = 1; s < kSums; ++s) {
#pragma GCC unroll 4
      for (int r = 0; r < kTileRows; ++r) {
        sum[0][r][0] += sum[s][r][0];
        sum[0][r][1] += sum[s][r][1];
      }
    }
  }
  if (accumulate) {
#pragma GCC unroll 14
    for (int r = 0; r < kTileRows; ++r) {
      sum[0][r][0] += load(out + r * out_step);
      sum[0][r][1] += load(out + r * out_step + kLanes<T>);
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < kTileRows; ++r) {
    store(out + r * out_step, sum[0][r][0]);
    store(out + r * out_step + kLanes<T>, sum[0][r][1]);
  }
}

template <typename T>
using Tile = void (*)(int64_t, const T*, const T*, int64_t, T*, int64_t, bool);

template <typename T, int... kCounts>
constexpr std::array<Tile<T>, sizeof...(kCounts)> tiles(std::integer_sequence<int, kCounts...>) {
  return {&tile<T, kCounts + 1>...};
}

template <typename T>
void any_tile(int64_t tile_rows, int64_t depth, const T* left, const T* right, int64_t right_step, T* out,
              int64_t out_step, bool accumulate) {
  static constexpr std::array<Tile<T>, kRows> kTiles = tiles<T>(std::make_integer_sequence<int, kRows>());
  kTiles[static_cast<size_t>(tile_rows - 1)](depth, left, right, right_step, out, out_step, accumulate);
}

// Packs the depths [0, result) of a left panel whose rows are contiguous, square by square. Squares may be
// wider than what is left of the panel; what they write too much is overwritten by the next ones, so they end
// before anything would be written behind the panel.
template <typename T>
int64_t pack_left_squares(const T* __restrict from, int64_t row_step, int64_t panel_rows, int64_t depth,
                          T* __restrict to) {
  if (panel_rows * 2 < kLanes<T>) return 0;                       // mostly waste
  const int64_t last = (panel_rows - 1) / kLanes<T> * kLanes<T>;  // where the last square begins
  int64_t d = 0;
  for (; (d + kLanes<T> - 1) * panel_rows + last + kLanes<T> <= depth * panel_rows; d += kLanes<T>) {
    for (int64_t r = last; r >= 0; r -= kLanes<T>) {  // backwards: the last one writes too much
      Vector<T> rows[kLanes<T>];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes<T>; ++i) {
        rows[i] = load(from + (r + i < panel_rows ? r + i : panel_rows - 1) * row_step + d);
      }
      transpose<T>(rows);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes<T>; ++i) store(to + (d + i) * panel_rows + r, rows[i]);
    }
  }
  return d;
}

template <typename T>
void pack_left(const T* __restrict from, int64_t row_step, int64_t depth_step, int64_t panel_rows,
               int64_t depth, T* __restrict to) {
  if (row_step == 1) {
    for (int64_t d = 0; d < depth; ++d) {
      for (int64_t r = 0; r < panel_rows; ++r) to[d * panel_rows + r] = from[d * depth_step + r];
    }
    return;
  }
  int64_t d = depth_step == 1 ? pack_left_squares(from, row_step, panel_rows, depth, to) : 0;
  for (; d < depth; ++d) {
    for (int64_t r = 0; r < panel_rows; ++r) to[d * panel_rows + r] = from[r * row_step + d * depth_step];
  }
}

// As pack_left_squares: packs depths [0, result) and columns [0, used rounded down to squares).
template <typename T>
int64_t pack_right_squares(const T* __restrict from, int64_t column_step, int64_t depth, int64_t columns,
                           T* __restrict to) {
  int64_t d = 0;
  for (; d + kLanes<T> <= depth; d += kLanes<T>) {
    for (int64_t c = 0; c < columns; c += kLanes<T>) {
      Vector<T> rows[kLanes<T>];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes<T>; ++i) rows[i] = load(from + (c + i) * column_step + d);
      transpose<T>(rows);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes<T>; ++i) store(to + (d + i) * 2 * kLanes<T> + c, rows[i]);
    }
  }
  return d;
}

template <typename T>
void pack_right(const T* __restrict from, int64_t depth_step, int64_t column_step, int64_t depth,
                int64_t used, T* __restrict to) {
  constexpr int64_t kColumns = 2 * kLanes<T>;
  if (column_step == 1 && used == kColumns) {
    for (int64_t d = 0; d < depth; ++d) {
      const Vector<T> first = load(from + d * depth_step);
      const Vector<T> second = load(from + d * depth_step + kLanes<T>);
      store(to + d * kColumns, first);
      store(to + d * kColumns + kLanes<T>, second);
    }
    return;
  }
  const int64_t square = depth_step == 1 ? used / kLanes<T> * kLanes<T> : 0;
  const int64_t done = square > 0 ? pack_right_squares(from, column_step, depth, square, to) : 0;
  for (int64_t d = 0; d < depth; ++d) {
    for (int64_t c = d < done ? square : 0; c < used; ++c) {
      to[d * kColumns + c] = from[d * depth_step + c * column_step];
    }
    for (int64_t c = used; c < kColumns; ++c) to[d * kColumns + c] = 0;
  }
}

template <typename T, int kBy, int... kIndex>
inline Vector<T> rotated(const Vector<T>& vector, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(vector, vector, ((kIndex + kBy) % static_cast<int>(sizeof...(kIndex)))...);
}
// Halves onto halves, until every lane holds the sum.
template <typename T, int kBy = kLanes<T> / 2>
inline T sum_of(const Vector<T>& vector) {
  if constexpr (kBy == 0) {
    return vector[0];
  } else {
    return sum_of<T, kBy / 2>(vector + rotated<T, kBy>(vector, std::make_integer_sequence<int, kLanes<T>>()));
  }
}

// Four rows share each piece of x; two vectors of the depth at a time hide the latency of adding.
template <typename T, int kCount>
inline void dot_rows(const T* matrix, int64_t row_step, int64_t depth, const T* x, T* to) {
  Vector<T> sum[kCount][2] = {};
  int64_t d = 0;
  for (; d + 2 * kLanes<T> <= depth; d += 2 * kLanes<T>) {
    const Vector<T> x0 = load(x + d);
    const Vector<T> x1 = load(x + d + kLanes<T>);
#pragma GCC unroll 4
    for (int r = 0; r < kCount; ++r) {
      sum[r][0] += load(matrix + r * row_step + d) * x0;
      sum[r][1] += load(matrix + r * row_step + d + kLanes<T>) * x1;
    }
  }
  for (int r = 0; r < kCount; ++r) {
    T total = sum_of<T>(sum[r][0] + sum[r][1]);
    for (int64_t rest = d; rest < depth; ++rest) total += matrix[r * row_step + rest] * x[rest];
    to[r] = total;
  }
}

template <typename T>
void rows_times_vector(const T* matrix, int64_t row_step, int64_t rows, int64_t depth, const T* x, T* to) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) dot_rows<T, 4>(matrix + r * row_step, row_step, depth, x, to + r);
  for (; r < rows; ++r) dot_rows<T, 1>(matrix + r * row_step, row_step, depth, x, to + r);
}

template <typename T>
void vector_times_matrix(const T* __restrict x, const T* __restrict matrix, int64_t depth_step, int64_t depth,
                         int64_t columns, T* __restrict to) {
  int64_t d = 0;
  for (; d + 8 <= depth; d += 8) {
    const T* const row = matrix + d * depth_step;
    const T x0 = x[d], x1 = x[d + 1], x2 = x[d + 2], x3 = x[d + 3];
    const T x4 = x[d + 4], x5 = x[d + 5], x6 = x[d + 6], x7 = x[d + 7];
    for (int64_t c = 0; c < columns; ++c) {
      to[c] += (x0 * row[c] + x1 * row[c + depth_step] + x2 * row[c + 2 * depth_step] +
                x3 * row[c + 3 * depth_step]) +
               (x4 * row[c + 4 * depth_step] + x5 * row[c + 5 * depth_step] + x6 * row[c + 6 * depth_step] +
                x7 * row[c + 7 * depth_step]);
    }
  }
  for (; d < depth; ++d) {
    const T* const row = matrix + d * depth_step;
    for (int64_t c = 0; c < columns; ++c) to[c] += x[d] * row[c];
  }
}

// The last vector may overlap the one before it.
template <typename T>
void copy_strided(const T* from, int64_t step, int64_t count, T* to) {
  if (count >= kLanes<T> && step <= 2) {
    for (int64_t x = 0; x < count; x += kLanes<T>) {
      const int64_t at = x + kLanes<T> <= count ? x : count - kLanes<T>;
      store(to + at, step == 1 ? load(from + at) : load_even(from + 2 * at));
    }
    return;
  }
  for (int64_t x = 0; x < count; ++x) to[x] = from[x * step];
}

template <typename T>
constexpr GemmKernels<T> kTable = {.rows = kRows,
                                   .columns = 2 * kLanes<T>,
                                   .direct_right = true,
                                   .tile = &any_tile<T>,
                                   .pack_left = &pack_left<T>,
                                   .pack_right = &pack_right<T>,
                                   .rows_times_vector = &rows_times_vector<T>,
                                   .vector_times_matrix = &vector_times_matrix<T>,
                                   .copy_strided = &copy_strided<T>};

}  // namespace

const GemmKernels<float>& float_gemm() { return kTable<float>; }
const GemmKernels<double>& double_gemm() { return kTable<double>; }
const GemmKernels<uint64_t>& integer_gemm() { return kTable<uint64_t>; }

}  // namespace flambeau::kernels::FLAMBEAU_ISA
