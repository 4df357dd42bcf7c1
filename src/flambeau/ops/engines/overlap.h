// Whether tensors share memory, so that writing one changes another while it is read.
#pragma once

#include "flambeau/tensor/tensor.h"

namespace flambeau::ops {

// Two indices of the tensor are the same memory, e.g. after expand(). May say so of strange strides where it
// is not so.
bool has_internal_overlap(const Tensor& tensor);
// They may share elements, other than each element with the one at the same index. It is memory that counts,
// not storages: what one lends twice through DLPack has two.
bool overlaps_partly(const Tensor& read, const Tensor& written);
// The same, or each element with the one at the same index.
bool overlaps(const Tensor& read, const Tensor& written);

}  // namespace flambeau::ops
