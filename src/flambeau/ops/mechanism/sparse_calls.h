// Calls with sparse arguments. An operator says what it does with such (Operator::sparse); all others refuse
// them here, before a rule or a kernel looks for strides that are not there.
#pragma once

#include <span>
#include <vector>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::ops {

inline bool is_sparse(const Tensor& tensor) {
  return tensor.defined() && tensor.layout() != Layout::kStrided;
}
// Is one of them, or one in a list of tensors?
bool has_sparse(std::span<const Value> arguments);

// Throws Error(kUnsupported) where one is: nothing that stands between calls knows of sparse tensors.
void refuse_sparse(std::span<const Value> arguments);

// A call that has_sparse. Throws Error(kUnsupported) that names the argument where the operator takes none.
std::vector<Value> execute_sparse(Context& context, const Operator& op, std::span<const Value> arguments);

// What a tensor is once a result was written to it, one of the two being sparse. Where the result has the
// tensor's own indices, its values change; else only the handle does. Throws Error(kInvalidArgument) where
// the layouts differ.
Tensor sparse_written(Context& context, const Tensor& result, const Tensor& to);

}  // namespace flambeau::ops
