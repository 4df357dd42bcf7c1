// Tensors on their way between PyTorch and us: theirs become views of their memory; ours are copied, unless
// they are views of an input.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/aot/library/host.h"
#include "flambeau/ops/mechanism/context.h"
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

// Gives a run memory of PyTorch's tensors, so that what it puts there need not be copied to one. They are of
// one element type: PyTorch has no view of a tensor as another type without calling an operator.
class HostAllocator : public ops::Allocator {
 public:
  explicit HostAllocator(DType dtype) : dtype_(dtype) {}
  std::shared_ptr<Storage> allocate(size_t bytes) override;
  // The tensor whose memory the result has, for itself alone; null for others.
  HostTensor* find(const Tensor& result) const;

 private:
  static constexpr size_t kLeast = 4096;  // less is copied sooner
  DType dtype_;
  mutable std::mutex mutex_;
  std::vector<std::pair<std::weak_ptr<Storage>, HostTensor*>> made_;  // which the storages own
};

// The handle that PyTorch gets for an output; null for None. `views` are of `inputs`, in their order.
HostTensorPointer handle_of(const Value& value, std::span<const Tensor> views,
                            std::span<const HostTensorPointer> inputs, const HostAllocator& allocator);
HostTensorPointer copy_of(const Tensor& tensor);

}  // namespace flambeau::aot
