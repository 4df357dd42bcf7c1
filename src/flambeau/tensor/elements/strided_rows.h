// Walks a strided view as few, long rows: dimensions that lie evenly in memory are merged, so that a
// contiguous tensor is a single row whatever its rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "flambeau/base/work.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

class StridedRows {
 public:
  explicit StridedRows(const Geometry& geometry);

  int64_t count() const { return count_; }
  // True when the elements lie packed, in order.
  bool is_packed() const { return outer_.empty() && inner_.stride == 1; }
  int64_t offset() const { return offset_; }
  // True for the likes of a transposed matrix: packed along the last dimension but one. Walked in order, it
  // touches another cache line for each element.
  bool is_turned() const { return !outer_.empty() && outer_.back().stride == 1 && inner_.stride > 1; }

  // Calls row(at, stride, count, index) for the pieces of rows that make up the elements [begin, end) in
  // logical order: `at` is the first element's place in the storage, `index` its logical number.
  template <typename Row>
  void for_each(int64_t begin, int64_t end, Row&& row) const {
    if (begin >= end) return;
    std::vector<int64_t> index(outer_.size());
    int64_t column = begin % inner_.size;
    int64_t at = offset_;
    int64_t rest = begin / inner_.size;
    for (size_t d = outer_.size(); d-- > 0;) {
      index[d] = rest % outer_[d].size;
      at += index[d] * outer_[d].stride;
      rest /= outer_[d].size;
    }
    WorkPoller poll;
    for (;;) {
      const int64_t length = std::min(inner_.size - column, end - begin);
      poll(static_cast<size_t>(length));
      row(at + column * inner_.stride, inner_.stride, length, begin);
      begin += length;
      if (begin >= end) return;
      column = 0;
      for (size_t d = outer_.size(); d-- > 0;) {
        at += outer_[d].stride;
        if (++index[d] < outer_[d].size) break;
        at -= outer_[d].stride * outer_[d].size;
        index[d] = 0;
      }
    }
  }

  // The last two dimensions of a view that is_turned(), for each index of the others.
  struct Matrix {
    int64_t at;     // the first element's place in the storage
    int64_t index;  // and its logical number
    int64_t rows;   // one element apart in the storage
    int64_t columns;
    int64_t column_stride;
  };
  template <typename Body>
  void for_each_matrix(Body&& body) const {
    StridedRows others = *this;
    others.inner_ = {1, 1};
    others.outer_.pop_back();
    const int64_t size = outer_.back().size * inner_.size;
    others.for_each(0, count_ / size, [&](int64_t at, int64_t, int64_t, int64_t index) {
      body(Matrix{at, index * size, outer_.back().size, inner_.size, inner_.stride});
    });
  }

 private:
  struct Dimension {
    int64_t size;
    int64_t stride;
  };
  std::vector<Dimension> outer_;
  Dimension inner_{1, 1};
  int64_t offset_;
  int64_t count_;
};

}  // namespace flambeau
