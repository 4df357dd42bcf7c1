#include "flambeau/ops/engines/overlap.h"

#include <algorithm>
#include <vector>

namespace flambeau::ops {

bool has_internal_overlap(const Tensor& tensor) {
  struct Dimension {
    int64_t stride;
    int64_t size;
  };
  std::vector<Dimension> dimensions;
  for (size_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.sizes()[d] == 0) return false;
    if (tensor.sizes()[d] > 1) dimensions.push_back({tensor.strides()[d], tensor.sizes()[d]});
  }
  std::ranges::sort(dimensions, {}, &Dimension::stride);
  int64_t reach = 0;  // the last element that the dimensions so far can touch
  for (const Dimension& dimension : dimensions) {
    if (dimension.stride <= reach) return true;
    reach += dimension.stride * (dimension.size - 1);
  }
  return false;
}

namespace {
bool is_same_view(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.dtype() == b.dtype() && a.offset() == b.offset() &&
         a.sizes() == b.sizes() && a.strides() == b.strides();
}
}  // namespace

bool overlaps(const Tensor& read, const Tensor& written) {
  return is_same_view(read, written) || overlaps_partly(read, written);
}

bool overlaps_partly(const Tensor& read, const Tensor& written) {
  if (read.storage() != written.storage() || is_same_view(read, written)) return false;
  if (read.element_count() == 0 || written.element_count() == 0) return false;
  const auto bytes = [](const Tensor& tensor) {
    const auto size = static_cast<int64_t>(tensor.element_size());
    return std::pair(tensor.offset() * size, storage_extent(tensor.geometry()) * size);
  };
  const auto [read_begin, read_end] = bytes(read);
  const auto [written_begin, written_end] = bytes(written);
  return read_begin < written_end && written_begin < read_end;
}

}  // namespace flambeau::ops
