// What many decompositions are made of.
#pragma once

#include <string_view>
#include <vector>

#include "flambeau/trace/decompositions/arguments.h"

namespace flambeau::trace::parts {

using ops::Context;

// A tensor without sizes that holds the number, as where() wants it.
Tensor scalar(Context& context, const Value& number, DType dtype, Device device = {});
Tensor full(Context& context, const SymIntList& sizes, const Value& number, DType dtype, Device device = {});
// The numbers from start to end, step by step.
Tensor arange(Context& context, const Value& start, const Value& end, std::optional<DType> dtype = {},
              Device device = {}, const Value& step = 1);
Tensor where(Context& context, const Tensor& condition, const Tensor& yes, const Tensor& no);
Tensor to_dtype(Context& context, const Tensor& tensor, DType dtype);
// As reshape does it: a view where there can be one, else of a copy.
Tensor reshape(Context& context, const Tensor& tensor, const SymIntList& sizes);
// In a row-major copy.
Tensor packed(Context& context, const Tensor& tensor);
Tensor cat(Context& context, const TensorList& tensors, int64_t dim);
// One item along a dimension, as slices that are squeezed.
TensorList unbind(Context& context, const Tensor& tensor, int64_t dim);
// As far as it goes: parts of almost the same size.
TensorList tensor_split(Context& context, const Tensor& tensor, int64_t sections, int64_t dim);
// The numbers of a reduction: 0 none, 1 mean, 2 sum.
Tensor reduce(Context& context, const Tensor& loss, int64_t reduction);

}  // namespace flambeau::trace::parts
