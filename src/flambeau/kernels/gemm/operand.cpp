// Where the panels of a product come from: memory of any layout, or a PackedMatrix.
#include <fmt/format.h>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/gemm/engine.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::kernels {
namespace {

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Elements of one packed matrix: panels of the whole depth, one after the other.
template <typename T>
int64_t packed_size(PackedMatrix::Side side, int64_t rows, int64_t columns) {
  return side == PackedMatrix::Side::kLeft ? rows * columns
                                           : rows * round_up(columns, gemm_kernels<T>().columns);
}

template <typename T>
std::shared_ptr<const void> pack(ThreadPool& pool, PackedMatrix::Side side, DType dtype, int64_t rows,
                                 int64_t columns, MatrixSteps steps, const void* data, int64_t batch,
                                 size_t& bytes) {
  const GemmKernels<T>& kernels = gemm_kernels<T>();
  const bool left = side == PackedMatrix::Side::kLeft;
  const MemoryOperand<T> operand(left ? MemoryOperand<T>::Side::kLeft : MemoryOperand<T>::Side::kRight, dtype,
                                 data, left ? steps.row : steps.column, left ? steps.column : steps.row,
                                 steps.batch, false);
  const int64_t size = packed_size<T>(side, rows, columns);
  const int64_t depth = left ? columns : rows;
  bytes = static_cast<size_t>(size * batch) * sizeof(T);
  std::shared_ptr<void> memory = aligned_memory(bytes);
  const LeftPanels panels(rows, kernels.rows);
  const int64_t count = left ? panels.count : round_up(columns, kernels.columns) / kernels.columns;
  pool.for_each_range(static_cast<size_t>(count * batch), 1, [&](size_t begin, size_t end) {
    for (auto index = static_cast<int64_t>(begin); index < static_cast<int64_t>(end); ++index) {
      poll_work();
      T* const to = static_cast<T*>(memory.get()) + index / count * size;
      const int64_t panel = index % count;
      const int64_t first = left ? panels.begin(panel) : panel * kernels.columns;
      const int64_t last = left ? panels.begin(panel + 1) : std::min(first + kernels.columns, columns);
      operand.panel(index / count, first, last - first, 0, depth, to + first * depth);
    }
  });
  return memory;
}

}  // namespace

template <>
const GemmKernels<float>& gemm_kernels<float>() {
  return FLAMBEAU_PICK(float_gemm)();
}
template <>
const GemmKernels<double>& gemm_kernels<double>() {
  return FLAMBEAU_PICK(double_gemm)();
}
template <>
const GemmKernels<uint64_t>& gemm_kernels<uint64_t>() {
  return FLAMBEAU_PICK(integer_gemm)();
}
template <>
const GemmKernels<std::complex<float>>& gemm_kernels<std::complex<float>>() {
  return FLAMBEAU_PICK(complex_float_gemm)();
}
template <>
const GemmKernels<std::complex<double>>& gemm_kernels<std::complex<double>>() {
  return FLAMBEAU_PICK(complex_double_gemm)();
}

template <typename T>
MemoryOperand<T>::MemoryOperand(Side side, DType dtype, const void* data, int64_t along, int64_t depth_step,
                                int64_t batch_step, bool direct)
    : kernels_(gemm_kernels<T>()),
      access_(dtype),
      side_(side),
      data_(data),
      along_(along),
      depth_step_(depth_step),
      batch_step_(batch_step),
      direct_(direct && side == Side::kRight && access_.same() && along == 1 && kernels_.direct_right) {}

template <typename T>
Panel<T> MemoryOperand<T>::panel(int64_t batch, int64_t begin, int64_t count, int64_t depth_begin,
                                 int64_t depth, T* room) const {
  const int64_t start = batch * batch_step_ + begin * along_ + depth_begin * depth_step_;
  const bool left = side_ == Side::kLeft;
  const T* from = static_cast<const T*>(data_) + start;
  int64_t along = along_;
  int64_t depth_step = depth_step_;
  if (access_.same()) {
    if (direct_ && count == kernels_.columns) return {from, depth_step_};
    if (left) {
      kernels_.pack_left(from, along, depth_step, count, depth, room);
    } else {
      kernels_.pack_right(from, depth_step, along, depth, count, room);
    }
    return {room, left ? count : kernels_.columns};
  }
  // Converted piece by piece, in the direction in which memory runs, then packed.
  constexpr int64_t kPiece = 64;
  T converted[kPiece * 64];
  const int64_t width = left ? count : kernels_.columns;
  for (int64_t d = 0; d < depth; d += kPiece) {
    const int64_t some = std::min(kPiece, depth - d);
    if (depth_step_ == 1) {
      for (int64_t i = 0; i < count; ++i)
        access_.load(data_, start + i * along_ + d, 1, some, converted + i * kPiece);
      along = kPiece, depth_step = 1;
    } else {
      for (int64_t i = 0; i < some; ++i) {
        access_.load(data_, start + (d + i) * depth_step_, along_, count, converted + i * count);
      }
      along = 1, depth_step = count;
    }
    if (left) {
      kernels_.pack_left(converted, along, depth_step, count, some, room + d * width);
    } else {
      kernels_.pack_right(converted, depth_step, along, some, count, room + d * width);
    }
  }
  return {room, width};
}

template <typename T>
PackedOperand<T>::PackedOperand(const PackedMatrix& matrix)
    : data_(static_cast<const T*>(matrix.data())),
      left_(matrix.side() == PackedMatrix::Side::kLeft),
      depth_(left_ ? matrix.columns() : matrix.rows()),
      columns_(gemm_kernels<T>().columns),
      batches_(matrix.batch()),
      batch_step_(packed_size<T>(matrix.side(), matrix.rows(), matrix.columns())) {}

template <typename T>
Panel<T> PackedOperand<T>::panel(int64_t batch, int64_t begin, int64_t count, int64_t depth_begin,
                                 int64_t /*depth*/, T* /*room*/) const {
  const int64_t width = left_ ? count : columns_;
  return {data_ + batch % batches_ * batch_step_ + begin * depth_ + depth_begin * width, width};
}

PackedMatrix::PackedMatrix(ThreadPool& pool, Side side, DType dtype, int64_t rows, int64_t columns,
                           MatrixSteps steps, const void* data, int64_t batch)
    : side_(side), dtype_(dtype), rows_(rows), columns_(columns), batch_(batch) {
  data_ = with_product_type(dtype, [&]<typename T>() {
    return pack<T>(pool, side, dtype, rows, columns, steps, data, batch, bytes_);
  });
}

#define FLAMBEAU_INSTANTIATE(T)    \
  template class MemoryOperand<T>; \
  template class PackedOperand<T>;
FLAMBEAU_INSTANTIATE(float)
FLAMBEAU_INSTANTIATE(double)
FLAMBEAU_INSTANTIATE(uint64_t)
FLAMBEAU_INSTANTIATE(std::complex<float>)
FLAMBEAU_INSTANTIATE(std::complex<double>)
#undef FLAMBEAU_INSTANTIATE

}  // namespace flambeau::kernels
