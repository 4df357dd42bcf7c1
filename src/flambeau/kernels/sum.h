// Reductions of arrays: sums that do not lose digits however long the array is (pairwise over blocks, as
// accurate as PyTorch's cascade), products, extremes with PyTorch's rule for NaN (one NaN makes the result
// NaN, and the first one is the position), and all/any. Over float, double and int64_t (which wraps around);
// complex sums as well. The bits of sum and sum_rows do not depend on the processor (those of squares do:
// some round once where others round twice).
//
// For float16 and bfloat16, convert blocks to float and add them to a RunningSum<float>.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

namespace flambeau::kernels {

template <typename T>
T sum(const T* x, size_t n);  // also std::complex<float>, std::complex<double>
template <typename T>
T sum_squares(const T* x, size_t n);
// Sum of (x - center)^2.
template <typename T>
T sum_square_differences(const T* x, size_t n, T center);
template <typename T>
T product(const T* x, size_t n);
// The largest and smallest element; n is not 0.
template <typename T>
T maximum(const T* x, size_t n);
template <typename T>
T minimum(const T* x, size_t n);
// Where it is: the first of several, the first NaN if there is one.
template <typename T>
size_t arg_maximum(const T* x, size_t n);
template <typename T>
size_t arg_minimum(const T* x, size_t n);
// NaN counts as true.
template <typename T>
bool any(const T* x, size_t n);
template <typename T>
bool all(const T* x, size_t n);

// Across rows: out[j] is the reduction of column j. Rows are contiguous and `stride` elements apart.
template <typename T>
void sum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out);
template <typename T>
void product_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out);
// With the row that each element came from, unless `indices` is null; rows is not 0.
template <typename T>
void maximum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out, int64_t* indices);
template <typename T>
void minimum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out, int64_t* indices);

// A sum of block sums, added pairwise: only sums of as many blocks meet.
template <typename T>
class PairwiseSum {
 public:
  void add(T block_sum) {
    uint64_t full = count_++;
    size_t level = 0;
    for (; (full & 1) != 0; full >>= 1) block_sum = levels_[level++] + block_sum;
    levels_[level] = block_sum;
  }
  T total() const {
    T result{};
    for (size_t level = 0; level < levels_.size() && count_ >> level != 0; ++level) {
      if ((count_ >> level & 1) != 0) result = levels_[level] + result;
    }
    return result;
  }

 private:
  std::array<T, 64> levels_{};
  uint64_t count_ = 0;
};

// The sum of an array that comes in pieces.
template <typename T>
class RunningSum {
 public:
  void add(const T* x, size_t n) { sums_.add(sum(x, n)); }
  T total() const { return sums_.total(); }

 private:
  PairwiseSum<T> sums_;
};

}  // namespace flambeau::kernels
