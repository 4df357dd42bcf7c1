#include "flambeau/interpreter/spare_results.h"

#include <atomic>

#include "flambeau/interpreter/same_description.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::interpreter {
namespace {

Tensor over(const Tensor& description, const std::shared_ptr<Storage>& memory) {
  Tensor tensor = description;
  tensor.set_storage(memory, 0);
  return tensor;
}

}  // namespace

IValue SpareResults::take(ops::Context& context, const Tensor& description, size_t bytes) {
  for (Spare& spare : spares_) {
    // The memory's owners are the spare, and its tensor unless that was given another one.
    if (!spare.value.is_boxed() || spare.value.owners() != 1 || spare.memory.use_count() != 2 ||
        spare.memory->size() != bytes)
      continue;
    Tensor& tensor = spare.value.tensor_box().tensor;
    if (tensor.storage() != spare.memory) continue;
    // What others did to it before they let it go is done.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (tensor.offset() != 0 || !is_described_as(tensor, description))
      tensor = over(description, spare.memory);
    return spare.value;
  }
  Spare& spare = spares_[next_];
  next_ = (next_ + 1) % spares_.size();
  spare.memory = context.allocate_storage(bytes);
  spare.value = over(description, spare.memory);
  return spare.value;
}

}  // namespace flambeau::interpreter
