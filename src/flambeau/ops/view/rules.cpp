#include "flambeau/ops/view/rules.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau::ops {

void fail_view(const std::string& text) { throw Error(ErrorCode::kInvalidArgument, text); }

Tensor checked_view(const Tensor& base, std::span<const Size> sizes, std::span<const Size> strides,
                    int64_t offset) {
  if (sizes.size() != strides.size()) {
    fail_view(
        fmt::format("mismatch in length of strides and shape: {} and {}", strides.size(), sizes.size()));
  }
  for (const int64_t stride : strides) {
    if (stride < 0) fail_view(fmt::format("as_strided: Negative strides are not supported, got {}", stride));
  }
  if (offset < 0) fail_view(fmt::format("Tensor: invalid storage offset {}", offset));
  Geometry geometry{Dims(sizes), Dims(strides), offset};
  int64_t bytes = 0;
  const int64_t extent = storage_extent(geometry);
  if (__builtin_mul_overflow(extent, static_cast<int64_t>(base.element_size()), &bytes) ||
      static_cast<uint64_t>(bytes) > base.storage()->size()) {
    fail_view(fmt::format(
        "setStorage: sizes {}, strides {}, storage offset {}, and itemsize {} requiring a storage size of {} "
        "are "
        "out of bounds for storage of size {}",
        sizes_text(sizes), sizes_text(strides), offset, base.element_size(), bytes, base.storage()->size()));
  }
  return base.with_geometry(std::move(geometry));
}

namespace {

// Whatever a rule says, no view leaves its storage.
bool is_inside(const Info<Size>& info, uint64_t bytes) {
  Size first = info.offset;
  Size last = info.offset;
  for (size_t d = 0; d < info.dim(); ++d) {
    if (info.sizes[d] == 0) return true;
    if (info.sizes[d] == 1) continue;  // nobody walks along it
    const Size reach = (info.sizes[d] - 1) * info.strides[d];
    (reach < 0 ? first : last) += reach;
  }
  const auto elements = bytes / dtype_size(info.dtype);
  return first >= 0 && static_cast<uint64_t>(last.value()) < elements;
}

}  // namespace

Tensor viewed(const Tensor& base, const Info<Size>& info) {
  if (base.storage() && dtype_info(info.dtype).per_byte == 1 && !is_inside(info, base.storage()->size())) {
    throw Error(ErrorCode::kInternal, fmt::format("a view of {} leaves its memory", base.summary()));
  }
  return base.with_geometry({info.sizes, info.strides, info.offset}, info.dtype);
}

}  // namespace flambeau::ops
