// The innermost loops of matrix products, one table per element type and instruction-set level. Inside the
// kernels room only; everybody else calls gemm.h.
#pragma once

#include <complex>
#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::kernels {

// A product works on panels: the left matrix is cut into strips of at most `rows` rows, stored so that the
// strip's elements of one depth lie together; the right one into strips of exactly `columns` columns (the
// last padded with zeros), likewise. T is float, double, uint64_t, complex<float> or complex<double>.
template <typename T>
struct GemmKernels {
  int64_t rows;
  int64_t columns;
  // Whether `tile` also takes a right matrix as it lies in memory, rows `right_step` elements apart.
  bool direct_right;

  // out[r][c] = (accumulate ? out[r][c] : 0) + sum over d of left[d][r] * right[d][c], for a whole tile of
  // `tile_rows` x `columns`. `left` holds depth x tile_rows elements.
  void (*tile)(int64_t tile_rows, int64_t depth, const T* left, const T* right, int64_t right_step, T* out,
               int64_t out_step, bool accumulate);
  // Writes one left panel: to[d * panel_rows + r] = from[r * row_step + d * depth_step].
  void (*pack_left)(const T* from, int64_t row_step, int64_t depth_step, int64_t panel_rows, int64_t depth,
                    T* to);
  // Writes one right panel of `columns`, of which `used` exist: from[d * depth_step + c * column_step].
  void (*pack_right)(const T* from, int64_t depth_step, int64_t column_step, int64_t depth, int64_t used,
                     T* to);
  // to[r] = sum over d of matrix[r * row_step + d] * x[d].
  void (*rows_times_vector)(const T* matrix, int64_t row_step, int64_t rows, int64_t depth, const T* x,
                            T* to);
  // to[c] += sum over d of x[d] * matrix[d * depth_step + c].
  void (*vector_times_matrix)(const T* x, const T* matrix, int64_t depth_step, int64_t depth, int64_t columns,
                              T* to);
  // to[i] = from[i * step].
  void (*copy_strided)(const T* from, int64_t step, int64_t count, T* to);
};

#define FLAMBEAU_DECLARE_GEMM(isa)                                \
  namespace isa {                                                 \
  const GemmKernels<float>& float_gemm();                         \
  const GemmKernels<double>& double_gemm();                       \
  const GemmKernels<uint64_t>& integer_gemm();                    \
  const GemmKernels<std::complex<float>>& complex_float_gemm();   \
  const GemmKernels<std::complex<double>>& complex_double_gemm(); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_GEMM)
#undef FLAMBEAU_DECLARE_GEMM

// The table for this processor.
template <typename T>
const GemmKernels<T>& gemm_kernels();
template <>
const GemmKernels<float>& gemm_kernels<float>();
template <>
const GemmKernels<double>& gemm_kernels<double>();
template <>
const GemmKernels<uint64_t>& gemm_kernels<uint64_t>();
template <>
const GemmKernels<std::complex<float>>& gemm_kernels<std::complex<float>>();
template <>
const GemmKernels<std::complex<double>>& gemm_kernels<std::complex<double>>();

}  // namespace flambeau::kernels
