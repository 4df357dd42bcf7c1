// The inner loops of depthwise convolutions, one table per type and instruction-set level. Inside the kernels
// room only.
#pragma once

#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::kernels {

template <typename T>
struct DepthwiseKernels {
  // to[x] = bias + sum over taps of weights[tap] * from[offsets[tap] + x * stride].
  void (*along_space)(const T* from, const int64_t* offsets, const T* weights, int64_t taps, int64_t stride,
                      T bias, int64_t count, T* to);
  // to[c] = bias[c] + sum over taps of weights[tap][c] * from[tap][c].
  void (*along_channels)(const T* const* from, const T* const* weights, int64_t taps, const T* bias,
                         int64_t count, T* to);
};

#define FLAMBEAU_DECLARE_DEPTHWISE(isa)               \
  namespace isa {                                     \
  const DepthwiseKernels<float>& float_depthwise();   \
  const DepthwiseKernels<double>& double_depthwise(); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_DEPTHWISE)
#undef FLAMBEAU_DECLARE_DEPTHWISE

}  // namespace flambeau::kernels
