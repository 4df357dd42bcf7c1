#include "flambeau/tensor/elements/strided_rows.h"

namespace flambeau {

StridedRows::StridedRows(const Geometry& geometry)
    : offset_(geometry.offset), count_(element_count(geometry.sizes)) {
  if (count_ == 0) return;
  for (size_t d = 0; d < geometry.sizes.size(); ++d) {
    const Dimension next{geometry.sizes[d], geometry.strides[d]};
    if (next.size == 1) continue;  // its stride is never used, and may be any number
    if (!outer_.empty() && outer_.back().stride == next.stride * next.size) {
      outer_.back() = {outer_.back().size * next.size, next.stride};
    } else {
      outer_.push_back(next);
    }
  }
  if (!outer_.empty()) {
    inner_ = outer_.back();
    outer_.pop_back();
  }
}

}  // namespace flambeau
