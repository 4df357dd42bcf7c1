// What the files of random.h share: which types they take, and numbers drawn in a wide type, a block at a
// time, and stored as another.
#pragma once

#include <algorithm>
#include <limits>

#include "flambeau/tensor/dtype.h"
#include "flambeau/tensor/elements/scalar_types.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau::kernels {

// Throw Error (kUnsupported): "uniform numbers of type int32 were asked for".
void require_floating(const char* what, DType dtype);
void require_number(const char* what, DType dtype);

// Draws n numbers of a wide type in order, and stores them as `dtype`.
template <typename T, Compute kWide, typename Draw>
void fill(DType dtype, void* out, size_t n, Draw draw) {
  const StoreRow store = store_row(kWide, dtype);
  const size_t size = dtype_size(dtype);
  auto* to = static_cast<uint8_t*>(out);
  T block[kWideBlock];
  while (n != 0) {
    const size_t count = std::min(n, kWideBlock);
    for (size_t i = 0; i < count; ++i) block[i] = draw();
    store(block, count, to, static_cast<ptrdiff_t>(size));
    to += count * size;
    n -= count;
  }
}
template <typename Draw>
void fill_from_double(DType dtype, void* out, size_t n, Draw draw) {
  fill<double, Compute::kDouble>(dtype, out, n, draw);
}

// A float as `dtype` has it.
inline float rounded_to(DType dtype, float value) {
  if (dtype == DType::kFloat16) return Float16::from_float(value).to_float();
  if (dtype == DType::kBFloat16) return BFloat16::from_float(value).to_float();
  return value;
}

// The largest number of a floating-point type.
inline double largest_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.fep127;
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace flambeau::kernels
