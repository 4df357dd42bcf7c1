#include "flambeau/aot/native/packed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "flambeau/base/error.h"

namespace flambeau::aot::native {
namespace {

constexpr size_t kMostDims = 12;

// PyTorch's version and oneDNN 3's memory descriptor, as far as plain and blocked forms need it.
struct Blocked {
  int32_t version;
  int32_t ndims;
  int64_t dims[kMostDims];
  int32_t dtype;
  int32_t padding2;
  int64_t padded_dims[kMostDims];
  int64_t padded_offsets[kMostDims];
  int64_t offset0;
  int32_t format;
  int32_t padding3;
  int64_t strides[kMostDims];
  int32_t inner_count;
  int32_t padding4;
  int64_t inner_blocks[kMostDims];
  int64_t inner_dims[kMostDims];
};
constexpr int32_t kBlockedFormat = 2;

[[noreturn]] void corrupt(std::string message) {
  throw Error(ErrorCode::kCorrupt, "the description of a packed weight " + std::move(message));
}

int64_t checked_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) corrupt("has sizes that no memory holds");
  return product;
}

Blocked read(ByteSpan description) {
  Blocked blocked;
  if (description.size() < sizeof blocked)
    corrupt(fmt::format("has {} bytes, {} are expected", description.size(), sizeof blocked));
  std::memcpy(&blocked, description.data(), sizeof blocked);
  if (blocked.version != 1 || blocked.format != kBlockedFormat) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a weight is packed in a form that is not known (version {}, format {})",
                            blocked.version, blocked.format),
                "compile the model without freezing");
  }
  if (blocked.ndims < 1 || blocked.ndims > static_cast<int32_t>(kMostDims))
    corrupt(fmt::format("says {} dimensions", blocked.ndims));
  if (blocked.inner_count < 0 || blocked.inner_count > static_cast<int32_t>(kMostDims))
    corrupt(fmt::format("says {} blocks", blocked.inner_count));
  for (int i = 0; i < blocked.inner_count; ++i) {
    if (blocked.inner_blocks[i] < 1 || blocked.inner_dims[i] < 0 || blocked.inner_dims[i] >= blocked.ndims)
      corrupt("has a block of no dimension");
  }
  if (blocked.offset0 < 0) corrupt("begins before its memory");
  return blocked;
}

// Where an element is, in elements.
int64_t place_of(const Blocked& blocked, std::span<const int64_t> at) {
  int64_t left[kMostDims];
  std::copy(at.begin(), at.end(), left);
  int64_t place = blocked.offset0;
  int64_t inner = 1;
  for (int i = blocked.inner_count; i-- > 0;) {
    int64_t& index = left[blocked.inner_dims[i]];
    place += index % blocked.inner_blocks[i] * inner;
    index /= blocked.inner_blocks[i];
    inner *= blocked.inner_blocks[i];
  }
  for (int d = 0; d < blocked.ndims; ++d) place += left[d] * blocked.strides[d];
  return place;
}

}  // namespace

Tensor unpack(const uint8_t* data, ByteSpan description, DType dtype, std::span<const int64_t> sizes) {
  const Blocked blocked = read(description);
  // Grouped convolutions have their groups as a dimension in front, which PyTorch folds into the next.
  const auto dims = static_cast<size_t>(blocked.ndims);
  int64_t described = 1, wanted = 1, there = 1;
  for (size_t d = 0; d < dims; ++d) {
    described = checked_product(described, blocked.dims[d]);
    there = checked_product(there, blocked.padded_dims[d]);
  }
  for (const int64_t size : sizes) wanted = checked_product(wanted, size);
  const bool fits = dims == sizes.size() || dims == sizes.size() + 1;
  if (!fits || described != wanted) {
    corrupt(fmt::format("has {} elements in {} dimensions, the library says {} in {}", described, dims,
                        wanted, sizes.size()));
  }
  Tensor made = Tensor::zeros(dtype, sizes);
  const size_t bytes = made.element_size();
  int64_t at[kMostDims] = {};
  uint8_t* to = wanted == 0 ? nullptr : made.mutable_data();
  for (int64_t i = 0; i < wanted; ++i, to += bytes) {
    const int64_t place = place_of(blocked, {at, dims});
    if (place < 0 || place >= there) corrupt("has strides that lead out of its memory");
    std::memcpy(to, data + static_cast<size_t>(place) * bytes, bytes);
    for (size_t d = dims; d-- > 0;) {
      if (++at[d] < blocked.dims[d]) break;
      at[d] = 0;
    }
  }
  return made;
}

}  // namespace flambeau::aot::native
