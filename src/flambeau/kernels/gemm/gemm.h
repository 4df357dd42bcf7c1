// Matrix products over plain memory, in portable C++: out = epilogues(alpha * left * right + beta * addend),
// one or a batch of them, every matrix with any steps between its rows and columns.
//
// Sums are taken in the compute type of the stored one (element.h): float16, bfloat16 and float8 products add
// up in float32 and are rounded once, at the end; integers wrap around. A NaN or infinity in `addend` does
// not matter when beta is zero. The order of additions depends on the shape, not on the number of threads.
//
// Fast at: float32 and float64 of any size (more than 9/10 of the processor's peak for a few hundred rows),
// one row or one column (the speed of memory), and right sides that are packed once and used often.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "flambeau/kernels/epilogue.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau {
class ThreadPool;
}

namespace flambeau::kernels {

// Element (b, r, c) of a matrix lies b * batch + r * row + c * column elements after its first one. Steps may
// be zero (a broadcast operand) and, for operands, negative.
struct MatrixSteps {
  int64_t row = 0;
  int64_t column = 0;
  int64_t batch = 0;

  // Row after row without gaps.
  static MatrixSteps packed(int64_t rows, int64_t columns) { return {columns, 1, rows * columns}; }
  MatrixSteps transposed() const { return {column, row, batch}; }
};

// A factor in the type the caller has it in; it is converted to the compute type.
using Factor = std::variant<int64_t, double, std::complex<double>>;

struct GemmShape {
  DType dtype = DType::kFloat32;  // of all four matrices
  int64_t rows = 0;               // of left, out
  int64_t columns = 0;            // of right, out
  int64_t depth = 0;              // columns of left, rows of right
  int64_t batch = 1;
  MatrixSteps left = {}, right = {}, out = {};
};

// What is added to the product: a matrix as large as the result, steps of zero repeating a row, a column or
// one number. May be `out` itself with the same steps.
struct GemmAddend {
  const void* data = nullptr;  // none
  MatrixSteps steps = {};
  Factor beta = 1.0;
};

// One side of a product in the order the inner loops read it, converted to the compute type. Packing costs
// about as much as multiplying with a few rows, so it pays for weights. Made for this processor and this run:
// not for files. Immutable; a copy shares the memory.
class PackedMatrix {
 public:
  enum class Side : uint8_t { kLeft, kRight };

  PackedMatrix() = default;
  // A batch of matrices of rows x columns. A packed batch of one serves every index of a product's batch.
  PackedMatrix(ThreadPool& pool, Side side, DType dtype, int64_t rows, int64_t columns, MatrixSteps steps,
               const void* data, int64_t batch = 1);

  explicit operator bool() const { return data_ != nullptr; }
  Side side() const { return side_; }
  DType dtype() const { return dtype_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t batch() const { return batch_; }
  size_t bytes() const { return bytes_; }
  const void* data() const { return data_.get(); }

 private:
  Side side_ = Side::kRight;
  DType dtype_ = DType::kFloat32;
  int64_t rows_ = 0, columns_ = 0, batch_ = 0;
  size_t bytes_ = 0;
  std::shared_ptr<const void> data_;
};

// `out` must not overlap left or right. Errors: kInvalidArgument for a type that is no plain number, and for
// epilogues behind sums that are not taken in float32.
void gemm(ThreadPool& pool, const GemmShape& shape, const void* left, const void* right, void* out,
          const GemmAddend& addend = {}, Factor alpha = 1.0, Epilogues epilogues = {});

// Whether a product of this shape is faster with its right side packed, the packing not counted.
bool prefers_packed(const GemmShape& shape);

// One side packed: shape.right (or .left) is not looked at. Errors: kInvalidArgument also when the packed
// matrix is not of the shape's type and sizes.
void gemm(ThreadPool& pool, const GemmShape& shape, const void* left, const PackedMatrix& right, void* out,
          const GemmAddend& addend = {}, Factor alpha = 1.0, Epilogues epilogues = {});
void gemm(ThreadPool& pool, const GemmShape& shape, const PackedMatrix& left, const void* right, void* out,
          const GemmAddend& addend = {}, Factor alpha = 1.0, Epilogues epilogues = {});

}  // namespace flambeau::kernels
