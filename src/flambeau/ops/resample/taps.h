// Where the elements of a resized dimension come from: for each position of the result, a few positions of
// the input and their weights. Computed in the arithmetic PyTorch uses, as rounding decides which element is
// nearest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flambeau/base/work.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau::ops {

enum class Resampling : uint8_t {
  kNearest,
  kNearestExact,
  kLinear,
  kCubic,
  // With a filter as wide as the step where the result is smaller.
  kLinearSmooth,
  kCubicSmooth,
  kLanczosSmooth,
};

// Tap k of position i is number k * out + i.
struct Taps {
  int64_t in = 1;
  int64_t out = 1;
  int64_t count = 1;
  ScratchVector<int64_t> index;
  ScratchVector<double> weight;
};

// `scale` is how much larger the result is, where the caller said so; otherwise it follows from the sizes.
Taps make_taps(Resampling kind, DType dtype, int64_t in, int64_t out, bool align_corners,
               std::optional<double> scale);

// The number without its fraction; what no index reaches, infinities and NaN stop short of the ends of 64
// bits.
template <typename T>
int64_t truncated_index(T x) {
  constexpr T kFar = static_cast<T>(0x1p62);
  return x > -kFar && x < kFar ? static_cast<int64_t>(x) : x >= kFar ? int64_t{1} << 62 : -(int64_t{1} << 62);
}

}  // namespace flambeau::ops
