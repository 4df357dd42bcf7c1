// The loops that resize one dimension of an array of [outer, size, inner] elements.
#pragma once

#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::ops {

template <typename T>
struct AxisResize {
  int64_t in, out, inner;
  int64_t taps;
  const int64_t* index;  // tap k of position i is number k * out + i
  const T* weight;
};

template <typename T>
struct ResizeLoops {
  // The lines [begin, end) of the result, each of `inner` elements; or of `out`, where inner is 1.
  void (*lines)(const AxisResize<T>& axis, const T* from, T* to, int64_t begin, int64_t end);
};

#define FLAMBEAU_DECLARE_RESIZE(isa)          \
  namespace isa {                             \
  const ResizeLoops<float>& float_resize();   \
  const ResizeLoops<double>& double_resize(); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_RESIZE)
#undef FLAMBEAU_DECLARE_RESIZE

}  // namespace flambeau::ops
