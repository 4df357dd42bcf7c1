// Windows over one to three dimensions of images, and the loops that take the largest element or the mean of
// each. One description serves plain and adaptive pooling: for every position of a result, where its window
// begins and ends.
#pragma once

#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::ops {

struct WindowAxis {
  int64_t in = 1;
  int64_t out = 1;
  int64_t step = 1;                // from one element of a window to the next
  const int64_t* begin = nullptr;  // of the window of each position, inside the image
  const int64_t* end = nullptr;
  const int64_t* extent = nullptr;  // the window's length with the padding it covers
  // Windows that are all alike but for the border: tap k of position o is element o * stride - padding + k *
  // step.
  bool is_regular = false;
  int64_t kernel = 1, stride = 1, padding = 0;
};

struct PoolShape {
  int64_t batch = 1;
  int64_t channels = 1;
  WindowAxis axes[3];             // depth, height, width; missing ones are of size 1
  bool is_channels_last = false;  // in both images
  bool includes_padding = true;   // in the number that a sum is divided by
  int64_t divisor = 0;            // instead of that number
};

// poll_work() for the loops, whose windows may be as large as an image: code for one machine alone inlines
// nothing that others use.
void poll_pooling();

// Loops over rows of a result. Channels first: a row is one line of one channel, of batch * channels * depth
// * height in all. Channels last: all channels of one line, of batch * depth * height. Images are packed.
template <typename T>
struct PoolLoops {
  // `indices` (null: not wanted) count elements of a channel of the input. The first of equal elements wins,
  // the last NaN before all.
  void (*max_rows)(const PoolShape& shape, const T* in, T* out, int64_t* indices, int64_t begin, int64_t end);
  void (*mean_rows)(const PoolShape& shape, const T* in, T* out, int64_t begin, int64_t end);
};

#define FLAMBEAU_DECLARE_POOL(isa)        \
  namespace isa {                         \
  const PoolLoops<float>& float_pool();   \
  const PoolLoops<double>& double_pool(); \
  const PoolLoops<int64_t>& int_pool();   \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_POOL)
#undef FLAMBEAU_DECLARE_POOL

}  // namespace flambeau::ops
