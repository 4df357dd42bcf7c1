// The way through several strided operands of the same sizes at once: few, long rows. Dimensions are put in
// the order of the first operand's memory, and merged where all operands lie evenly.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "flambeau/base/work.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::ops {

class Walk {
 public:
  static constexpr size_t kMostOperands = 8;
  using Offsets = std::array<int64_t, kMostOperands>;

  struct Dimension {
    int64_t size = 1;
    Offsets strides{};
  };

  // Each operand broadcasts to `sizes`; a null one does as a single element. Strides are taken in bytes. The
  // first operand is the one that is written.
  Walk(std::span<const int64_t> sizes, std::span<const Tensor* const> operands);

  int64_t element_count() const { return count_; }
  int64_t row_length() const { return inner_size_; }
  // Bytes from one element of a row to the next.
  int64_t step(size_t operand) const { return inner_strides_[operand]; }
  size_t operand_count() const { return operands_; }
  // Whether an operand's memory runs across the rows: each of its elements in a row is in a line of memory of
  // its own.
  bool runs_across(size_t operand, size_t element_size) const;
  // The dimensions around the rows, outermost first; their strides in bytes.
  std::span<const Dimension> outer() const { return outer_; }

  // Calls row(offsets, count) for the pieces of rows that make up the elements [begin, end) in the walk's
  // order: the offsets, in bytes from each operand's first element, and how many elements lie at steps from
  // there.
  template <typename Row>
  void for_each(int64_t begin, int64_t end, Row&& row) const {
    if (begin >= end) return;
    Offsets offsets{};
    ShortList<int64_t> index(outer_.size(), 0);
    int64_t column = begin % inner_size_;
    int64_t rest = begin / inner_size_;
    for (size_t d = outer_.size(); d-- > 0;) {
      index[d] = rest % outer_[d].size;
      rest /= outer_[d].size;
      for (size_t i = 0; i < operands_; ++i) offsets[i] += index[d] * outer_[d].strides[i];
    }
    WorkPoller poll;
    for (;;) {
      const int64_t length = std::min(inner_size_ - column, end - begin);
      poll(static_cast<size_t>(length));
      if (column == 0) {
        row(offsets, length);
      } else {
        Offsets inside = offsets;
        for (size_t i = 0; i < operands_; ++i) inside[i] += column * inner_strides_[i];
        row(inside, length);
      }
      begin += length;
      if (begin >= end) return;
      column = 0;
      for (size_t d = outer_.size(); d-- > 0;) {
        const Dimension& dimension = outer_[d];
        for (size_t i = 0; i < operands_; ++i) offsets[i] += dimension.strides[i];
        if (++index[d] < dimension.size) break;
        for (size_t i = 0; i < operands_; ++i) offsets[i] -= dimension.strides[i] * dimension.size;
        index[d] = 0;
      }
    }
  }

 private:
  size_t operands_;
  int64_t count_ = 1;
  ShortList<Dimension> outer_;
  int64_t inner_size_ = 1;
  Offsets inner_strides_{};
};

}  // namespace flambeau::ops
