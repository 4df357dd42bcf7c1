// The rows of attention: softmax over a part of a row at a time, with what is needed to go on with the next
// part.
#pragma once

#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::ops {

// What is known of a row after some of its parts: exp(score - largest) sums up to `sum`.
template <typename T>
struct RowState {
  T largest;
  T sum;
};

template <typename T>
struct SoftmaxRows {
  // The largest element; NaN where there is one.
  T (*largest)(const T* row, int64_t count);
  // row[i] = exp(row[i] - largest); gives their sum.
  T (*exponentials)(T* row, T largest, int64_t count);
  // row[i] *= number; row[i] += other[i]
  void (*scale)(T* row, T number, int64_t count);
  void (*add)(T* row, const T* other, int64_t count);
};

#define FLAMBEAU_DECLARE_SOFTMAX(isa)          \
  namespace isa {                              \
  const SoftmaxRows<float>& float_softmax();   \
  const SoftmaxRows<double>& double_softmax(); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_SOFTMAX)
#undef FLAMBEAU_DECLARE_SOFTMAX

}  // namespace flambeau::ops
