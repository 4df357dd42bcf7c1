// What a tensor's values look like: counts, extremes, mean.
#pragma once

#include <cstdint>
#include <optional>

#include "flambeau/base/parallel.h"
#include "flambeau/tensor/number.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

struct Statistics {
  int64_t count = 0;  // all elements
  int64_t nan_count = 0;
  int64_t inf_count = 0;
  // Of the elements that are not NaN; absent when there are none, and for complex types, which have no
  // order.
  std::optional<Number> min;
  std::optional<Number> max;
  // Of the finite elements, summed in float64 with compensation (integers: exactly); absent when there are
  // none, and for complex types.
  std::optional<double> mean;
};

// The same result for any number of threads. Quantized tensors are measured by the real numbers they stand
// for, sparse ones by their stored values. A complex element counts as NaN when either part is, else as
// infinite when either part is.
// Throws Error(kInvalidArgument) for an undefined tensor and one without data, Error(kUnsupported) for the
// bits and packed float types.
Statistics statistics(const Tensor& tensor, ThreadPool* pool = nullptr);

}  // namespace flambeau
