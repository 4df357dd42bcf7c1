// Rotations of columns that an iteration makes, kept until there are many, and then applied to as many rows
// at once as stay near the processor.
#pragma once

#include <algorithm>

#include "flambeau/kernels/linalg/loops.h"

namespace flambeau::kernels::linalg {

// The length of (x, y): hypot(), but for most numbers soon.
inline double length_of(double x, double y) {
  const double square = x * x + y * y;
  return square > 1e-290 && square < 1e290 ? std::sqrt(square) : std::hypot(x, y);
}

template <typename T>
class Rotations {
 public:
  // Of the columns of that matrix; of none where it has no data.
  Rotations(ThreadPool& pool, Matrix<T> target) : pool_(pool), target_(target) {}

  void add(int64_t x, int64_t y, double c, double s) {
    if (target_.data == nullptr) return;
    using R = Real<T>;
    kept_.push_back({static_cast<int32_t>(x), static_cast<int32_t>(y), static_cast<R>(c), static_cast<R>(s)});
    if (kept_.size() >= kMost) apply();
  }
  void apply() {
    if (kept_.empty()) return;
    const auto count = static_cast<int64_t>(kept_.size());
    const int64_t blocks = (target_.rows + kRows - 1) / kRows;
    const Cost cost{.operations = static_cast<double>(count * kRows) * 8};
    pool_.for_each_range(static_cast<size_t>(blocks), cost.grain(), [&](size_t begin, size_t end) {
      for (size_t block = begin; block < end; ++block) {
        const int64_t from = static_cast<int64_t>(block) * kRows;
        const int64_t rows = std::min(kRows, target_.rows - from);
        constexpr int64_t kPiece = 4096;  // between two questions whether to go on
        for (int64_t i = 0; i < count; i += kPiece) {
          poll_work();
          loops<T>().rotate(rows, target_.data + from, target_.column_step, kept_.data() + i,
                            std::min(kPiece, count - i));
        }
      }
    });
    kept_.clear();
  }

 private:
  static constexpr size_t kMost = size_t{1} << 19;
  static constexpr int64_t kRows = 64;
  ThreadPool& pool_;
  Matrix<T> target_;
  ScratchVector<Rotation<Real<T>>> kept_;
};

}  // namespace flambeau::kernels::linalg
