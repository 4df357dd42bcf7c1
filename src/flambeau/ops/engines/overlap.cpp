#include "flambeau/ops/engines/overlap.h"

#include <algorithm>
#include <cstdint>
#include <optional>
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

// Where a tensor's first element is. Two storages may be of the same memory, where a caller lent it twice;
// then the addresses tell. Zero where the bytes are not in the host's memory, and nobody else can have them.
uintptr_t address_of(const Tensor& tensor) {
  const Storage* const storage = tensor.storage().get();
  if (storage == nullptr || storage->is_meta() || storage->device().type != DeviceType::kCpu ||
      !storage->is_ready())
    return 0;
  const auto begin = reinterpret_cast<uintptr_t>(storage->bytes().data());
  return begin == 0 ? 0 : begin + static_cast<uintptr_t>(tensor.offset()) * tensor.element_size();
}

struct Places {
  uintptr_t read = 0;
  uintptr_t written = 0;
};

// Within one storage whatever it is of, else in memory; nothing where no byte can be both's.
std::optional<Places> places(const Tensor& read, const Tensor& written) {
  if (read.storage() == written.storage()) {
    const auto place = [](const Tensor& tensor) {
      return static_cast<uintptr_t>(tensor.offset()) * tensor.element_size();
    };
    return Places{place(read), place(written)};
  }
  const Places found{address_of(read), address_of(written)};
  if (found.read == 0 || found.written == 0) return {};
  return found;
}

bool is_same_view(const Tensor& a, const Tensor& b, const Places& of) {
  return of.read == of.written && a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

bool meet(const Tensor& read, const Tensor& written, const Places& of) {
  if (read.element_count() == 0 || written.element_count() == 0) return false;
  const auto bytes = [](const Tensor& tensor) {
    return static_cast<uintptr_t>(storage_extent(tensor.geometry()) - tensor.offset()) *
           tensor.element_size();
  };
  return of.read < of.written + bytes(written) && of.written < of.read + bytes(read);
}

}  // namespace

bool overlaps(const Tensor& read, const Tensor& written) {
  const std::optional<Places> of = places(read, written);
  return of && (is_same_view(read, written, *of) || meet(read, written, *of));
}

bool overlaps_partly(const Tensor& read, const Tensor& written) {
  const std::optional<Places> of = places(read, written);
  return of && !is_same_view(read, written, *of) && meet(read, written, *of);
}

}  // namespace flambeau::ops
