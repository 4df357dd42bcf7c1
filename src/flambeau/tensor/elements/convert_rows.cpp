#include "flambeau/tensor/elements/convert_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau {
namespace {

template <size_t kSize>
void copy_elements(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, kSize);  // compiled to one load and store
    from += from_step;
    to += to_step;
  }
}

void require_plain(DType dtype) {
  if (is_plain(dtype)) return;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("no operator computes with elements of type {}", dtype_name(dtype)));
}

// Whether elements of the type are the wide ones themselves.
bool is_wide_type(Compute kind, DType dtype) {
  switch (kind) {
    case Compute::kFloat:
      return dtype == DType::kFloat32;
    case Compute::kDouble:
      return dtype == DType::kFloat64;
    case Compute::kInt64:
      return dtype == DType::kInt64;
    case Compute::kUInt64:
      return dtype == DType::kUInt64;
    default:
      return false;
  }
}

// The NaN of these types is a constant in PyTorch, whose conversion to an integer its compiler worked out
// in advance, as 0; other NaNs meet the processor, which gives the lowest number.
bool nan_becomes_zero(DType from, DType to) {
  const bool is_constant =
      from == DType::kFloat8E4M3FNUZ || from == DType::kFloat8E5M2FNUZ || from == DType::kFloat8E8M0FNU;
  return is_constant && !dtype_info(to).is_floating && to != DType::kBool;
}
void replace_nans(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = std::isnan(values[i]) ? 0.0F : values[i];
}

// Of parts that are neither complex.
void convert_parts(DType from_type, const uint8_t* from, int64_t from_step, DType to_type, uint8_t* to,
                   int64_t to_step, size_t count) {
  const auto is_packed = [](DType dtype, int64_t step) {
    return step == static_cast<int64_t>(dtype_size(dtype));
  };
  // Files may lay elements askew; what reads or writes arrays of the wide type does not take them.
  const auto is_array = [&](DType dtype, const uint8_t* data, int64_t step) {
    return is_packed(dtype, step) && reinterpret_cast<uintptr_t>(data) % dtype_size(dtype) == 0;
  };
  if (is_packed(from_type, from_step) && is_packed(to_type, to_step)) {
    if (const ConvertRow convert = find_convert_row(from_type, to_type)) return convert(from, to, count);
  }
  const Compute kind = compute_type(from_type);
  const LoadRow load = load_row(from_type);
  if (is_wide_type(kind, to_type) && is_array(to_type, to, to_step)) return load(from, from_step, count, to);
  const StoreRow store = store_row(kind, to_type);
  if (is_wide_type(kind, from_type) && is_array(from_type, from, from_step)) {
    return store(from, count, to, to_step);
  }
  const bool zero_nans = nan_becomes_zero(from_type, to_type);
  alignas(64) std::array<uint8_t, kWideBlock * 8> wide;
  for (size_t done = 0; done < count; done += kWideBlock) {
    const size_t block = std::min(kWideBlock, count - done);
    load(from + static_cast<int64_t>(done) * from_step, from_step, block, wide.data());
    if (zero_nans) replace_nans(reinterpret_cast<float*>(wide.data()), block);
    store(wide.data(), block, to + static_cast<int64_t>(done) * to_step, to_step);
  }
}

}  // namespace

void copy_row(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step, size_t count,
              size_t element_size) {
  if (count == 0) return;  // of nothing there may be no memory
  const auto size = static_cast<int64_t>(element_size);
  if (from_step == size && to_step == size) {
    std::memmove(to, from, count * element_size);
    return;
  }
  switch (element_size) {
    case 1:
      return copy_elements<1>(from, from_step, to, to_step, count);
    case 2:
      return copy_elements<2>(from, from_step, to, to_step, count);
    case 4:
      return copy_elements<4>(from, from_step, to, to_step, count);
    case 8:
      return copy_elements<8>(from, from_step, to, to_step, count);
    default:
      return copy_elements<16>(from, from_step, to, to_step, count);
  }
}

void convert_row(DType from_type, const uint8_t* from, int64_t from_step, DType to_type, uint8_t* to,
                 int64_t to_step, size_t count) {
  if (count == 0) return;
  if (from_type == to_type) return copy_row(from, from_step, to, to_step, count, dtype_size(to_type));
  require_plain(from_type);
  require_plain(to_type);
  const bool is_from_complex = dtype_info(from_type).is_complex;
  const bool is_to_complex = dtype_info(to_type).is_complex;
  const DType from_part = part_dtype(from_type);
  const DType to_part = part_dtype(to_type);
  const size_t from_half = dtype_size(from_part);
  const size_t to_half = dtype_size(to_part);
  if (is_from_complex && to_type == DType::kBool) {
    // True where either part is.
    convert_parts(from_part, from, from_step, to_part, to, to_step, count);
    std::array<uint8_t, kWideBlock> other;
    for (size_t done = 0; done < count; done += kWideBlock) {
      const size_t block = std::min(kWideBlock, count - done);
      convert_parts(from_part, from + static_cast<int64_t>(done) * from_step + from_half, from_step,
                    DType::kBool, other.data(), 1, block);
      for (size_t i = 0; i < block; ++i) to[static_cast<int64_t>(done + i) * to_step] |= other[i];
    }
    return;
  }
  // PyTorch takes complex32 apart; the other way a signaling NaN passes through float and becomes quiet.
  if (is_from_complex && !is_to_complex && from_part == to_part)
    return copy_row(from, from_step, to, to_step, count, to_half);
  convert_parts(from_part, from, from_step, to_part, to, to_step, count);
  if (!is_to_complex) return;
  if (is_from_complex) {
    convert_parts(from_part, from + from_half, from_step, to_part, to + to_half, to_step, count);
  } else {
    for (size_t i = 0; i < count; ++i)
      std::memset(to + to_half + static_cast<int64_t>(i) * to_step, 0, to_half);
  }
}

void repeat_packed(uint8_t* block, size_t element_size, size_t count) {
  size_t filled = element_size;
  const size_t bytes = element_size * count;
  while (filled < bytes) {
    const size_t more = std::min(filled, bytes - filled);
    std::memcpy(block + filled, block, more);
    filled += more;
  }
}

}  // namespace flambeau
