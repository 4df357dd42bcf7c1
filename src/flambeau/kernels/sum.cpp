#include "flambeau/kernels/sum.h"

#include <algorithm>

#include "flambeau/kernels/sum_loops.h"

namespace flambeau::kernels {
namespace {

// Adds f(block, count) over blocks pairwise.
template <typename R, typename T, typename BlockSum>
R blockwise(const T* x, size_t n, size_t block, BlockSum block_sum) {
  if (n <= block) return block_sum(x, n);
  PairwiseSum<R> sums;
  for (; n != 0;) {
    const size_t count = std::min(n, block);
    sums.add(block_sum(x, count));
    x += count;
    n -= count;
  }
  return sums.total();
}

template <typename T>
std::complex<T> complex_sum(const std::complex<T>* x, size_t n) {
  const auto loop = FLAMBEAU_PICK(block_sum_pairs<T>);
  return blockwise<std::complex<T>>(x, n, kSumBlock / 2, [&](const std::complex<T>* block, size_t count) {
    T parts[2];
    loop(reinterpret_cast<const T*>(block), 2 * count, &parts[0], &parts[1]);
    return std::complex<T>(parts[0], parts[1]);
  });
}

}  // namespace

template <typename T>
T sum(const T* x, size_t n) {
  const auto loop = FLAMBEAU_PICK(block_sum<T>);
  return blockwise<T>(x, n, kSumBlock, loop);
}
template <>
std::complex<float> sum(const std::complex<float>* x, size_t n) {
  return complex_sum(x, n);
}
template <>
std::complex<double> sum(const std::complex<double>* x, size_t n) {
  return complex_sum(x, n);
}

template <typename T>
T sum_square_differences(const T* x, size_t n, T center) {
  const auto loop = FLAMBEAU_PICK(block_sum_squares<T>);
  return blockwise<T>(x, n, kSumBlock,
                      [&](const T* block, size_t count) { return loop(block, count, center); });
}
template <typename T>
T sum_squares(const T* x, size_t n) {
  return sum_square_differences(x, n, T(0));
}
template <typename T>
T product(const T* x, size_t n) {
  return FLAMBEAU_PICK(product<T>)(x, n);
}
template <typename T>
T maximum(const T* x, size_t n) {
  return FLAMBEAU_PICK(maximum<T>)(x, n);
}
template <typename T>
T minimum(const T* x, size_t n) {
  return FLAMBEAU_PICK(minimum<T>)(x, n);
}
template <typename T>
size_t arg_maximum(const T* x, size_t n) {
  return FLAMBEAU_PICK(find<T>)(x, n, maximum(x, n));
}
template <typename T>
size_t arg_minimum(const T* x, size_t n) {
  return FLAMBEAU_PICK(find<T>)(x, n, minimum(x, n));
}
template <typename T>
bool any(const T* x, size_t n) {
  return FLAMBEAU_PICK(any<T>)(x, n);
}
template <typename T>
bool all(const T* x, size_t n) {
  return FLAMBEAU_PICK(all<T>)(x, n);
}
template <typename T>
void sum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out) {
  FLAMBEAU_PICK(sum_rows<T>)(x, rows, columns, stride, out);
}
// Parts are summed apart: a row of complex numbers is a row of twice as many parts.
template <>
void sum_rows(const std::complex<float>* x, size_t rows, size_t columns, ptrdiff_t stride,
              std::complex<float>* out) {
  sum_rows(reinterpret_cast<const float*>(x), rows, 2 * columns, 2 * stride, reinterpret_cast<float*>(out));
}
template <>
void sum_rows(const std::complex<double>* x, size_t rows, size_t columns, ptrdiff_t stride,
              std::complex<double>* out) {
  sum_rows(reinterpret_cast<const double*>(x), rows, 2 * columns, 2 * stride, reinterpret_cast<double*>(out));
}
template <typename T>
void product_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out) {
  FLAMBEAU_PICK(product_rows<T>)(x, rows, columns, stride, out);
}
template <typename T>
void maximum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out, int64_t* indices) {
  FLAMBEAU_PICK(maximum_rows<T>)(x, rows, columns, stride, out, indices);
}
template <typename T>
void minimum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out, int64_t* indices) {
  FLAMBEAU_PICK(minimum_rows<T>)(x, rows, columns, stride, out, indices);
}

#define FLAMBEAU_INSTANTIATE(T)                                                     \
  template T sum<T>(const T*, size_t);                                              \
  template T sum_squares<T>(const T*, size_t);                                      \
  template T sum_square_differences<T>(const T*, size_t, T);                        \
  template T product<T>(const T*, size_t);                                          \
  template T maximum<T>(const T*, size_t);                                          \
  template T minimum<T>(const T*, size_t);                                          \
  template size_t arg_maximum<T>(const T*, size_t);                                 \
  template size_t arg_minimum<T>(const T*, size_t);                                 \
  template bool any<T>(const T*, size_t);                                           \
  template bool all<T>(const T*, size_t);                                           \
  template void sum_rows<T>(const T*, size_t, size_t, ptrdiff_t, T*);               \
  template void product_rows<T>(const T*, size_t, size_t, ptrdiff_t, T*);           \
  template void maximum_rows<T>(const T*, size_t, size_t, ptrdiff_t, T*, int64_t*); \
  template void minimum_rows<T>(const T*, size_t, size_t, ptrdiff_t, T*, int64_t*);
FLAMBEAU_INSTANTIATE(float)
FLAMBEAU_INSTANTIATE(double)
FLAMBEAU_INSTANTIATE(int64_t)

}  // namespace flambeau::kernels
