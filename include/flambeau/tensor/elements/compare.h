// How two tensors differ.
#pragma once

#include <cstdint>

#include "flambeau/tensor/tensor.h"

namespace flambeau {

struct Difference {
  bool same_dtype = false;
  bool same_shape = false;
  bool same_layout = false;
  // Elements that differ: for equal types in any bit (0 and -0 differ), for others in value. A NaN equals
  // any other NaN, any true bool any other. Nothing is compared when shapes or layouts differ.
  int64_t differing = 0;
  // The largest |a - b|, and |a - b| / max(|a|, |b|), over the differing elements; infinite where only one
  // is NaN or infinite.
  double max_abs = 0;
  double max_rel = 0;
  // The first element that differs, in row-major order; -1 and empty when none does.
  int64_t first = -1;
  Dims first_index;

  bool is_same() const { return same_dtype && same_shape && same_layout && differing == 0; }
};

// Any strides. Quantized tensors compare by the numbers they stand for; bits types as unsigned integers;
// sparse ones by their parts: indices, then values, where `differing` counts entries of both, the largest
// differences are those of the values, and `first` is about the first part that differs. Two meta tensors
// have no elements that could differ.
// Throws Error(kInvalidArgument) for an undefined tensor, or where only one side has data; and what reading
// the storages throws.
Difference compare(const Tensor& a, const Tensor& b);

// The same type, layout, shape, and bit for bit the same elements (and scales, and indices). Strides, offset
// and device do not matter.
bool bitwise_equal(const Tensor& a, const Tensor& b);

}  // namespace flambeau
