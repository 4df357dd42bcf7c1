// Tensors that came from outside one by one, but lie in the same memory: an operator that writes to one and
// reads another sees that they share a storage only when they do.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "flambeau/value/value.h"

namespace flambeau::python {

class SharedMemory {
 public:
  // Puts tensors whose storages overlap onto one storage that holds them all.
  static void join(std::vector<Value>& arguments) {
    std::vector<Tensor*> tensors;
    for (Value& argument : arguments) {
      if (auto* const tensor = argument.get_if<Tensor>()) tensors.push_back(tensor);
      if (auto* const list = argument.get_if<TensorList>()) {
        for (Tensor& tensor : *list) tensors.push_back(&tensor);
      }
    }
    std::erase_if(tensors, [](const Tensor* tensor) { return !has_memory(*tensor); });
    // Sorted by where they start, those that touch are neighbours.
    std::ranges::sort(tensors, {}, [](const Tensor* tensor) { return range_of(*tensor).first; });
    for (size_t first = 0; first < tensors.size();) {
      const uint8_t* const start = range_of(*tensors[first]).first;
      const uint8_t* end = range_of(*tensors[first]).second;
      bool is_one_storage = true;
      size_t next = first + 1;
      for (; next < tensors.size() && range_of(*tensors[next]).first < end; ++next) {
        end = std::max(end, range_of(*tensors[next]).second);
        is_one_storage = is_one_storage && tensors[next]->storage() == tensors[first]->storage();
      }
      if (!is_one_storage)
        rebase({tensors.begin() + static_cast<ptrdiff_t>(first), next - first}, start, end);
      first = next;
    }
  }

 private:
  static bool has_memory(const Tensor& tensor) {
    return tensor.defined() && tensor.layout() == Layout::kStrided && tensor.storage() != nullptr &&
           tensor.storage()->is_ready() && !tensor.storage()->is_meta() && tensor.storage()->size() > 0 &&
           tensor.quantizer() == nullptr;
  }
  static std::pair<const uint8_t*, const uint8_t*> range_of(const Tensor& tensor) {
    const ByteSpan bytes = tensor.storage()->bytes();
    return {bytes.data(), bytes.data() + bytes.size()};
  }
  static void rebase(std::span<Tensor*> tensors, const uint8_t* start, const uint8_t* end) {
    auto owners = std::make_shared<std::vector<std::shared_ptr<Storage>>>();
    for (const Tensor* const tensor : tensors) owners->push_back(tensor->storage());
    const std::shared_ptr<Storage> all =
        Storage::borrow(const_cast<uint8_t*>(start), static_cast<size_t>(end - start), owners);
    for (Tensor* const tensor : tensors) {
      const auto bytes = static_cast<size_t>(tensor->data() - start);
      if (bytes % tensor->element_size() != 0) continue;  // a view of other types, laid askew
      Geometry geometry = tensor->geometry();
      geometry.offset = static_cast<int64_t>(bytes / tensor->element_size());
      *tensor = Tensor::strided(tensor->dtype(), std::move(geometry), all, tensor->device());
    }
  }
};

}  // namespace flambeau::python
