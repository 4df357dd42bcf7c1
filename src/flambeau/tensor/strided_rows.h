// Walks a strided view as few, long rows: dimensions that lie evenly in memory are merged, so that a
// contiguous tensor is a single row whatever its rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "flambeau/tensor/tensor.h"

namespace flambeau {

class StridedRows {
 public:
  explicit StridedRows(const Geometry& geometry);

  int64_t count() const { return count_; }
  // True when the elements lie packed, in order.
  bool is_packed() const { return outer_.empty() && inner_.stride == 1; }
  int64_t offset() const { return offset_; }

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
    for (;;) {
      const int64_t length = std::min(inner_.size - column, end - begin);
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
