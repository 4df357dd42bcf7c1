// The inner loops of pooling, one table per type and instruction-set level. Inside the kernels room only.
#pragma once

#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::kernels {

// Each loop meets `count` results with the elements from[i * step].
template <typename T>
struct PoolingKernels {
  void (*max)(const T* from, int64_t step, int64_t count, T* to);
  // Also keeps where the maximum was: index + i * index_step.
  void (*max_index)(const T* from, int64_t step, int64_t count, T* to, int64_t index, int64_t index_step,
                    int64_t* indices);
  void (*add)(const T* from, int64_t step, int64_t count, T* to);
};

#define FLAMBEAU_DECLARE_POOLING(isa)             \
  namespace isa {                                 \
  const PoolingKernels<float>& float_pooling();   \
  const PoolingKernels<double>& double_pooling(); \
  const PoolingKernels<int64_t>& int64_pooling(); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_POOLING)
#undef FLAMBEAU_DECLARE_POOLING

}  // namespace flambeau::kernels
