// Tensors on their way between PyTorch and us: theirs become views of their memory; ours are copied, unless
// they are views of an input.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flambeau/aot/library/host.h"
#include "flambeau/tensor/tensor.h"
#include "flambeau/value/value.h"

namespace flambeau::aot {

struct DeleteHostTensor {
  void operator()(HostTensor* tensor) const { aoti_torch_delete_tensor_object(tensor); }
};
using HostTensorPointer = std::unique_ptr<HostTensor, DeleteHostTensor>;

// The tensor must outlive the view. Throws Error(kInvalidArgument) for one that is not on the CPU.
Tensor view_of(HostTensor* tensor, const std::string& name);
// A handle of our own to the same tensor. Throws Error(kUnsupported) where this PyTorch has no such function.
std::shared_ptr<HostTensor> shared_handle(HostTensor* tensor);

// The handle that PyTorch gets for an output; null for None. `views` are of `inputs`, in their order.
HostTensorPointer handle_of(const Value& value, std::span<const Tensor> views,
                            std::span<const HostTensorPointer> inputs);
HostTensorPointer copy_of(const Tensor& tensor);

}  // namespace flambeau::aot
