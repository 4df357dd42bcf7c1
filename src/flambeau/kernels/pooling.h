// What pooling is: the maximum or the average over windows of images.
#pragma once

#include <cstdint>

#include "flambeau/kernels/convolution/convolution.h"

namespace flambeau::kernels {

enum class PoolingKind : uint8_t {
  kMax,
  kAverage,            // divides by the window's size, padding included
  kAverageOfExisting,  // divides by the number of elements that are not padding
};

struct PoolingShape {
  PoolingKind kind = PoolingKind::kMax;
  int64_t batch = 1;
  int64_t channels = 1;
  Spatial input = {1, 1, 1};
  Spatial output = {1, 1, 1};  // given, not derived: rounding up and down both exist
  Spatial kernel = {1, 1, 1};
  Spatial stride = {1, 1, 1};
  Spatial padding = {0, 0, 0};  // before the first element, and as much after the last
  Spatial dilation = {1, 1, 1};
  int64_t divisor = 0;  // averages: divide by this instead; 0 for no
};

}  // namespace flambeau::kernels
