// The inner loops of depthwise convolutions, one table per type and instruction-set level. Inside the kernels
// room only.
#pragma once

#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::kernels {

template <typename T>
struct DepthwiseKernels {
  // to[x] += sum over taps of weights[tap] * from[x * stride + tap * dilation].
  void (*add_row)(const T* from, int64_t stride, int64_t dilation, const T* weights, int64_t taps,
                  int64_t count, T* to);
  // to[c] += from[c] * weights[c].
  void (*add_product)(const T* from, const T* weights, int64_t count, T* to);
};

#define FLAMBEAU_DECLARE_DEPTHWISE(isa)               \
  namespace isa {                                     \
  const DepthwiseKernels<float>& float_depthwise();   \
  const DepthwiseKernels<double>& double_depthwise(); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_DEPTHWISE)
#undef FLAMBEAU_DECLARE_DEPTHWISE

}  // namespace flambeau::kernels
