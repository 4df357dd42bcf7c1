// Inner loops of matrix products of complex numbers. The right panel holds real and imaginary parts in
// vectors of their own, so that a product is four real ones without shuffling.
#include "flambeau/kernels/gemm/kernels.h"
#include "flambeau/kernels/vectors_isa.h"

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

constexpr int kRows = 4;

// std::complex is laid out as two reals; reading it as those keeps its member functions, which the linker
// would share with code for lesser processors, out of this file.
template <typename R>
const R* reals(const std::complex<R>* numbers) {
  return reinterpret_cast<const R*>(numbers);
}
template <typename R>
R* reals(std::complex<R>* numbers) {
  return reinterpret_cast<R*>(numbers);
}

template <typename R, int kTileRows>
void tile(int64_t depth, const R* __restrict left, const R* __restrict right, R* __restrict out,
          int64_t out_step, bool accumulate) {
  Vector<R> real[kTileRows] = {};
  Vector<R> imaginary[kTileRows] = {};
  for (int64_t d = 0; d < depth; ++d) {
    Vector<R> right_real, right_imaginary;
    __builtin_memcpy(&right_real, right, sizeof right_real);
    __builtin_memcpy(&right_imaginary, right + kLanes<R>, sizeof right_imaginary);
#pragma GCC unroll 4
    for (int r = 0; r < kTileRows; ++r) {
      real[r] += left[2 * r] * right_real;
      real[r] -= left[2 * r + 1] * right_imaginary;
      imaginary[r] += left[2 * r] * right_imaginary;
      imaginary[r] += left[2 * r + 1] * right_real;
    }
    left += 2 * kTileRows;
    right += 2 * kLanes<R>;
  }
  for (int r = 0; r < kTileRows; ++r) {
    R* const row = out + 2 * r * out_step;
    for (int lane = 0; lane < kLanes<R>; ++lane) {
      row[2 * lane] = (accumulate ? row[2 * lane] : 0) + real[r][lane];
      row[2 * lane + 1] = (accumulate ? row[2 * lane + 1] : 0) + imaginary[r][lane];
    }
  }
}

template <typename R>
void any_tile(int64_t tile_rows, int64_t depth, const std::complex<R>* left, const std::complex<R>* right,
              int64_t /*right_step*/, std::complex<R>* out, int64_t out_step, bool accumulate) {
  switch (tile_rows) {
    case 1:
      return tile<R, 1>(depth, reals(left), reals(right), reals(out), out_step, accumulate);
    case 2:
      return tile<R, 2>(depth, reals(left), reals(right), reals(out), out_step, accumulate);
    case 3:
      return tile<R, 3>(depth, reals(left), reals(right), reals(out), out_step, accumulate);
    default:
      return tile<R, 4>(depth, reals(left), reals(right), reals(out), out_step, accumulate);
  }
}

template <typename R>
void pack_left(const std::complex<R>* numbers, int64_t row_step, int64_t depth_step, int64_t panel_rows,
               int64_t depth, std::complex<R>* panel) {
  const R* const from = reals(numbers);
  R* const to = reals(panel);
  for (int64_t d = 0; d < depth; ++d) {
    for (int64_t r = 0; r < panel_rows; ++r) {
      to[2 * (d * panel_rows + r)] = from[2 * (r * row_step + d * depth_step)];
      to[2 * (d * panel_rows + r) + 1] = from[2 * (r * row_step + d * depth_step) + 1];
    }
  }
}

template <typename R>
void pack_right(const std::complex<R>* numbers, int64_t depth_step, int64_t column_step, int64_t depth,
                int64_t used, std::complex<R>* panel) {
  const R* const from = reals(numbers);
  for (int64_t d = 0; d < depth; ++d) {
    R* const real = reals(panel) + 2 * d * kLanes<R>;
    R* const imaginary = real + kLanes<R>;
    for (int64_t c = 0; c < used; ++c) {
      real[c] = from[2 * (d * depth_step + c * column_step)];
      imaginary[c] = from[2 * (d * depth_step + c * column_step) + 1];
    }
    for (int64_t c = used; c < kLanes<R>; ++c) real[c] = imaginary[c] = 0;
  }
}

template <typename R>
void rows_times_vector(const std::complex<R>* matrix, int64_t row_step, int64_t rows, int64_t depth,
                       const std::complex<R>* x_numbers, std::complex<R>* to) {
  const R* const x = reals(x_numbers);
  for (int64_t r = 0; r < rows; ++r) {
    const R* const row = reals(matrix) + 2 * r * row_step;
    R real = 0, imaginary = 0;
    for (int64_t d = 0; d < depth; ++d) {
      real += row[2 * d] * x[2 * d] - row[2 * d + 1] * x[2 * d + 1];
      imaginary += row[2 * d] * x[2 * d + 1] + row[2 * d + 1] * x[2 * d];
    }
    reals(to)[2 * r] = real;
    reals(to)[2 * r + 1] = imaginary;
  }
}

template <typename R>
void vector_times_matrix(const std::complex<R>* x_numbers, const std::complex<R>* matrix, int64_t depth_step,
                         int64_t depth, int64_t columns, std::complex<R>* to) {
  R* __restrict const sums = reals(to);
  for (int64_t d = 0; d < depth; ++d) {
    const R* __restrict const row = reals(matrix) + 2 * d * depth_step;
    const R real = reals(x_numbers)[2 * d];
    const R imaginary = reals(x_numbers)[2 * d + 1];
    for (int64_t c = 0; c < columns; ++c) {
      sums[2 * c] += real * row[2 * c] - imaginary * row[2 * c + 1];
      sums[2 * c + 1] += real * row[2 * c + 1] + imaginary * row[2 * c];
    }
  }
}

template <typename R>
void copy_strided(const std::complex<R>* numbers, int64_t step, int64_t count, std::complex<R>* copies) {
  const R* const from = reals(numbers);
  R* const to = reals(copies);
  for (int64_t x = 0; x < count; ++x) {
    to[2 * x] = from[2 * x * step];
    to[2 * x + 1] = from[2 * x * step + 1];
  }
}

template <typename R>
constexpr GemmKernels<std::complex<R>> kTable = {.rows = kRows,
                                                 .columns = kLanes<R>,
                                                 .direct_right = false,
                                                 .tile = &any_tile<R>,
                                                 .pack_left = &pack_left<R>,
                                                 .pack_right = &pack_right<R>,
                                                 .rows_times_vector = &rows_times_vector<R>,
                                                 .vector_times_matrix = &vector_times_matrix<R>,
                                                 .copy_strided = &copy_strided<R>};

}  // namespace

const GemmKernels<std::complex<float>>& complex_float_gemm() { return kTable<float>; }
const GemmKernels<std::complex<double>>& complex_double_gemm() { return kTable<double>; }

}  // namespace flambeau::kernels::FLAMBEAU_ISA
