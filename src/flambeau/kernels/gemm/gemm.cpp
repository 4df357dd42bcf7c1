#include "flambeau/kernels/gemm/gemm.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/gemm/engine.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::kernels {
namespace {

// Up to so many rows, dot products along the memory of a transposed right side beat packing it.
constexpr int64_t kThinRows = 8;

template <typename T>
using Operand = MemoryOperand<T>;

template <typename T>
GemmProblem<T> problem_of(const GemmShape& shape, void* out, const GemmAddend& addend, const Factor& alpha,
                          Epilogues epilogues) {
  require_float(shape.dtype, epilogues);
  return {.dtype = shape.dtype,
          .rows = shape.rows,
          .columns = shape.columns,
          .depth = shape.depth,
          .batch = shape.batch,
          .left = nullptr,
          .right = nullptr,
          .out = out,
          .out_steps = shape.out,
          .addend = addend.data,
          .addend_steps = addend.steps,
          .alpha = factor_as<T>(alpha),
          .beta = factor_as<T>(addend.beta),
          .epilogues = epilogues};
}

bool has_thin_dots(const GemmShape& shape) {
  return shape.depth > 0 && shape.rows <= kThinRows && shape.right.row == 1 && shape.right.column != 1;
}

// Few rows times a right side whose columns are contiguous: dot products.
template <typename T>
void thin_dots(ThreadPool& pool, const GemmShape& shape, const GemmProblem<T>& problem, const void* left,
               const void* right) {
  const GemmKernels<T>& kernels = gemm_kernels<T>();
  const RowAccess<T> access(shape.dtype);
  constexpr int64_t kColumns = 64;  // at a time
  const int64_t pieces = (shape.columns + kColumns - 1) / kColumns;
  const size_t grain = product_cost<T>(shape.rows, kColumns, shape.depth, 1).grain();
  pool.for_each_range(static_cast<size_t>(pieces * shape.batch), grain, [&](size_t begin, size_t end) {
    const bool convert = !access.same();
    const int64_t rows = shape.rows, depth = shape.depth;
    const Scratch scratch((Size(rows) * depth + Size(kColumns) * rows + Size(convert ? 4 : 0) * depth) *
                          sizeof(T));
    T* const x = scratch.as<T>();
    T* const sums = x + rows * depth;
    T* const converted = sums + kColumns * rows;
    int64_t loaded = -1;
    for (auto piece = static_cast<int64_t>(begin); piece < static_cast<int64_t>(end); ++piece) {
      const int64_t batch = piece / pieces;
      if (batch != loaded) {
        for (int64_t r = 0; r < rows; ++r) {
          access.load(left, batch * shape.left.batch + r * shape.left.row, shape.left.column, depth,
                      x + r * depth);
        }
        loaded = batch;
      }
      const int64_t first = piece % pieces * kColumns;
      const int64_t count = std::min(kColumns, shape.columns - first);
      // Four columns stay near while every row meets them; more than a few long ones could not be stopped.
      constexpr int64_t kLong = int64_t{1} << 20;
      const int64_t together = rows > 1 || convert || depth > kLong ? 4 : count;
      for (int64_t c = 0; c < count; c += together) {
        poll_work();
        const int64_t some = std::min(together, count - c);
        const int64_t start = batch * shape.right.batch + (first + c) * shape.right.column;
        const T* matrix = static_cast<const T*>(right) + start;
        int64_t step = shape.right.column;
        if (convert) {
          for (int64_t i = 0; i < some; ++i) {
            access.load(right, start + i * shape.right.column, 1, depth, converted + i * depth);
          }
          matrix = converted, step = depth;
        }
        for (int64_t r = 0; r < rows; ++r) {
          kernels.rows_times_vector(matrix, step, some, depth, x + r * depth, sums + r * kColumns + c);
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        finish_row(access, problem, batch, r, first, count, sums + r * kColumns);
      }
    }
  });
}

// One row times a right side whose rows are contiguous: a sum of its rows.
template <typename T>
void row_sums(ThreadPool& pool, const GemmShape& shape, const GemmProblem<T>& problem, const void* left,
              const void* right) {
  const GemmKernels<T>& kernels = gemm_kernels<T>();
  const RowAccess<T> access(shape.dtype);
  // Wide pieces read memory in long runs; narrower ones give every thread work.
  constexpr int64_t kMostColumns = 1024;
  int64_t width = std::min(kMostColumns, shape.columns);
  if (shape.batch == 1) {
    const int64_t share = (shape.columns + pool.threads() - 1) / pool.threads();
    width = std::min(width, std::max<int64_t>((share + 63) & ~int64_t{63}, 64));
  }
  const int64_t pieces = (shape.columns + width - 1) / width;
  const size_t grain = product_cost<T>(1, width, shape.depth, 1).grain();
  constexpr int64_t kDepths = 8;  // converted at a time
  pool.for_each_range(static_cast<size_t>(pieces * shape.batch), grain, [&](size_t begin, size_t end) {
    const bool convert = !access.same();
    const Scratch scratch((Size(shape.depth) + width + (convert ? kDepths * width : 0)) * sizeof(T));
    T* const sums = scratch.as<T>();
    T* const x = sums + width;
    T* const converted = x + shape.depth;
    for (auto piece = static_cast<int64_t>(begin); piece < static_cast<int64_t>(end); ++piece) {
      const int64_t batch = piece / pieces;
      const int64_t first = piece % pieces * width;
      const int64_t count = std::min(width, shape.columns - first);
      poll_work();
      access.load(left, batch * shape.left.batch, shape.left.column, shape.depth, x);
      std::fill_n(sums, count, T(0));
      const int64_t start = batch * shape.right.batch + first;
      if (!convert) {
        kernels.vector_times_matrix(x, static_cast<const T*>(right) + start, shape.right.row, shape.depth,
                                    count, sums);
      }
      for (int64_t d = 0; convert && d < shape.depth; d += kDepths) {
        const int64_t some = std::min(kDepths, shape.depth - d);
        for (int64_t i = 0; i < some; ++i) {
          access.load(right, start + (d + i) * shape.right.row, 1, count, converted + i * width);
        }
        kernels.vector_times_matrix(x + d, converted, width, some, count, sums);
      }
      finish_row(access, problem, batch, 0, first, count, sums);
    }
  });
}

template <typename T>
void multiply_rows(ThreadPool& pool, const GemmShape& shape, GemmProblem<T> problem, const void* left,
                   const void* right) {
  if (shape.rows == 0 || shape.columns == 0 || shape.batch == 0) return;
  if (has_thin_dots(shape)) {
    return thin_dots<T>(pool, shape, problem, left, right);
  }
  if (shape.rows == 1 && shape.right.column == 1) return row_sums<T>(pool, shape, problem, left, right);
  const bool few = shape.rows <= 2 * gemm_kernels<T>().rows;
  const Operand<T> left_operand(Operand<T>::Side::kLeft, shape.dtype, left, shape.left.row, shape.left.column,
                                shape.left.batch, false);
  const Operand<T> right_operand(Operand<T>::Side::kRight, shape.dtype, right, shape.right.column,
                                 shape.right.row, shape.right.batch, few);
  problem.left = &left_operand;
  problem.right = &right_operand;
  run_gemm(pool, problem);
}

template <typename T>
void multiply(ThreadPool& pool, const GemmShape& shape, const void* left, const void* right, void* out,
              const GemmAddend& addend, const Factor& alpha, Epilogues epilogues) {
  // The result's rows should be contiguous, and few rows are better than few columns: otherwise compute the
  // transposed product.
  const bool transpose = shape.rows == 1 || shape.columns == 1 || shape.out.row == shape.out.column
                             ? shape.columns == 1 && shape.rows > 1
                             : shape.out.row == 1 && shape.out.column != 1;
  if (transpose) {
    const GemmShape other = {.dtype = shape.dtype,
                             .rows = shape.columns,
                             .columns = shape.rows,
                             .depth = shape.depth,
                             .batch = shape.batch,
                             .left = shape.right.transposed(),
                             .right = shape.left.transposed(),
                             .out = shape.out.transposed()};
    // A single row or column has no step of its own, so no transposition follows on this one.
    GemmAddend other_addend = addend;
    other_addend.steps = addend.steps.transposed();
    const GemmProblem<T> problem = problem_of<T>(other, out, other_addend, alpha, epilogues);
    return multiply_rows<T>(pool, other, problem, right, left);
  }
  multiply_rows<T>(pool, shape, problem_of<T>(shape, out, addend, alpha, epilogues), left, right);
}

void check_packed(const GemmShape& shape, const PackedMatrix& matrix, PackedMatrix::Side side) {
  const bool left = side == PackedMatrix::Side::kLeft;
  const int64_t rows = left ? shape.rows : shape.depth;
  const int64_t columns = left ? shape.depth : shape.columns;
  if (matrix.side() == side && matrix.dtype() == shape.dtype && matrix.rows() == rows &&
      matrix.columns() == columns && (matrix.batch() == 1 || matrix.batch() == shape.batch)) {
    return;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the packed {} side is {} x {} of {}, a batch of {}; the product wants the {} side "
                          "{} x {} of {}, a batch of {}",
                          matrix.side() == PackedMatrix::Side::kLeft ? "left" : "right", matrix.rows(),
                          matrix.columns(), dtype_name(matrix.dtype()), matrix.batch(),
                          left ? "left" : "right", rows, columns, dtype_name(shape.dtype), shape.batch));
}

}  // namespace

void gemm(ThreadPool& pool, const GemmShape& shape, const void* left, const void* right, void* out,
          const GemmAddend& addend, Factor alpha, Epilogues epilogues) {
  with_product_type(shape.dtype, [&]<typename T>() {
    multiply<T>(pool, shape, left, right, out, addend, alpha, epilogues);
  });
}

bool prefers_packed(const GemmShape& shape) {
  return !has_thin_dots(shape) && !(shape.rows == 1 && shape.right.column == 1);
}

void gemm(ThreadPool& pool, const GemmShape& shape, const void* left, const PackedMatrix& right, void* out,
          const GemmAddend& addend, Factor alpha, Epilogues epilogues) {
  check_packed(shape, right, PackedMatrix::Side::kRight);
  with_product_type(shape.dtype, [&]<typename T>() {
    GemmProblem<T> problem = problem_of<T>(shape, out, addend, alpha, epilogues);
    const Operand<T> left_operand(Operand<T>::Side::kLeft, shape.dtype, left, shape.left.row,
                                  shape.left.column, shape.left.batch, false);
    const PackedOperand<T> right_operand(right);
    problem.left = &left_operand;
    problem.right = &right_operand;
    run_gemm(pool, problem);
  });
}

void gemm(ThreadPool& pool, const GemmShape& shape, const PackedMatrix& left, const void* right, void* out,
          const GemmAddend& addend, Factor alpha, Epilogues epilogues) {
  check_packed(shape, left, PackedMatrix::Side::kLeft);
  with_product_type(shape.dtype, [&]<typename T>() {
    GemmProblem<T> problem = problem_of<T>(shape, out, addend, alpha, epilogues);
    const PackedOperand<T> left_operand(left);
    const Operand<T> right_operand(Operand<T>::Side::kRight, shape.dtype, right, shape.right.column,
                                   shape.right.row, shape.right.batch,
                                   shape.rows <= 2 * gemm_kernels<T>().rows);
    problem.left = &left_operand;
    problem.right = &right_operand;
    run_gemm(pool, problem);
  });
}

}  // namespace flambeau::kernels
