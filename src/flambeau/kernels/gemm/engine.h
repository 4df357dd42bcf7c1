// The blocked matrix product behind gemm.h and convolution.h. Operands say how to give a panel
// (gemm_kernels.h); the engine cuts the result into blocks, hands them to threads and writes them out.
#pragma once

#include <algorithm>
#include <cstdint>

#include "flambeau/base/parallel.h"
#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/kernels/gemm/kernels.h"
#include "flambeau/kernels/gemm/rows.h"

namespace flambeau::kernels {

// So many depths are multiplied before the next panels are taken: two panels fit into the first-level cache.
constexpr int64_t kDepthBlock = 256;

// The left side's rows are shared out evenly among the fewest panels that can hold them.
struct LeftPanels {
  int64_t rows;
  int64_t count;
  LeftPanels(int64_t all_rows, int64_t most) : rows(all_rows), count((all_rows + most - 1) / most) {}
  int64_t begin(int64_t panel) const { return rows * panel / count; }
};

template <typename T>
struct Panel {
  const T* data;
  int64_t step;  // elements from one depth to the next
};

// One side of a product. `room` has space for the panel; an operand that is packed already, or lies in memory
// as the tile wants it, returns its own address instead. Called from several threads.
template <typename T>
class GemmOperand {
 public:
  virtual ~GemmOperand() = default;
  // Rows (of a left operand) or columns (of a right one; the panel is padded) [begin, begin + count).
  virtual Panel<T> panel(int64_t batch, int64_t begin, int64_t count, int64_t depth_begin, int64_t depth,
                         T* room) const = 0;
};

// A matrix in memory, of any stored type and any steps.
template <typename T>
class MemoryOperand : public GemmOperand<T> {
 public:
  enum class Side : uint8_t { kLeft, kRight };
  // For a left operand `along` is the step between rows, for a right one between columns. `direct`: use the
  // memory as it lies where the tile allows it.
  MemoryOperand(Side side, DType dtype, const void* data, int64_t along, int64_t depth_step,
                int64_t batch_step, bool direct);
  Panel<T> panel(int64_t batch, int64_t begin, int64_t count, int64_t depth_begin, int64_t depth,
                 T* room) const override;

 private:
  const GemmKernels<T>& kernels_;
  RowAccess<T> access_;
  Side side_;
  const void* data_;
  int64_t along_, depth_step_, batch_step_;
  bool direct_;
};

template <typename T>
class PackedOperand : public GemmOperand<T> {
 public:
  explicit PackedOperand(const PackedMatrix& matrix);
  Panel<T> panel(int64_t batch, int64_t begin, int64_t count, int64_t depth_begin, int64_t depth,
                 T* room) const override;

 private:
  const T* data_;
  bool left_;
  int64_t depth_, columns_, batches_, batch_step_;
};

template <typename T>
struct GemmProblem {
  DType dtype;
  int64_t rows, columns, depth, batch;
  const GemmOperand<T>* left;
  const GemmOperand<T>* right;
  void* out;
  MatrixSteps out_steps;
  const void* addend;  // or null
  MatrixSteps addend_steps;
  T alpha, beta;
  Epilogues epilogues = {};
};

// What a batch of products takes: for few rows it is reading the right side.
template <typename T>
Cost product_cost(int64_t rows, int64_t columns, int64_t depth, int64_t batch) {
  const auto r = static_cast<double>(rows), c = static_cast<double>(columns), d = static_cast<double>(depth);
  const auto all = static_cast<double>(batch);
  // Elements twice as wide are multiplied half as fast.
  return {.operations = all * r * c * d * sizeof(T) / sizeof(float),
          .bytes = all * (c * d + r * (c + d)) * sizeof(T)};
}

template <typename T>
void run_gemm(ThreadPool& pool, const GemmProblem<T>& problem);

// Writes block = epilogues(alpha * block + beta * addend) to the stored matrix. Also used by the paths for
// thin matrices.
template <typename T>
void finish_row(const RowAccess<T>& access, const GemmProblem<T>& problem, int64_t batch, int64_t row,
                int64_t column, int64_t count, T* values);

}  // namespace flambeau::kernels
