// Maximum and average over windows of images, over plain memory, in portable C++.
//
// Maxima are those of PyTorch: a NaN in the window is the result, and of equal elements the first one's index
// is given. Averages add in the compute type (element.h) and are rounded once. Fast at: float32 and float64
// with steps of one or two, channels first, and any step with channels last.
#pragma once

#include <cstdint>

#include "flambeau/kernels/convolution.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau {
class ThreadPool;
}

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

// `order` is that of input and output. `indices`, for kMax, or null: where in its plane each maximum was
// found, in the order of the output. Windows may hang over the padding's end, where sizes were rounded up:
// that part counts for nothing. Errors: kInvalidArgument for complex and other types without an order, for
// averages of integers, and for indices of averages.
void pool_windows(ThreadPool& pool, const PoolingShape& shape, DType dtype, ImageOrder order,
                  const void* input, void* output, int64_t* indices = nullptr);

}  // namespace flambeau::kernels
