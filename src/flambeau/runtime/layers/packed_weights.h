// Constant weights as the plans of a program have packed them: a plan for other shapes needs no copy of its
// own.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "flambeau/kernels/onednn/pooled.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::runtime {

class PackedWeights {
 public:
  // Calls use(packed) with what there is of this matrix; one caller at a time.
  template <typename Use>
  auto with(const Tensor& weight, Use&& use) {
    const std::lock_guard lock(mutex_);
    return std::forward<Use>(use)(find(weight));
  }

 private:
  struct Entry {
    std::weak_ptr<Storage> storage;  // gone: another one may be at its address
    Geometry geometry;
    kernels::onednn::PackedColumns packed;
  };
  kernels::onednn::PackedColumns& find(const Tensor& weight) {
    std::vector<std::unique_ptr<Entry>>& entries = entries_[weight.storage().get()];
    std::erase_if(entries, [](const auto& entry) { return entry->storage.expired(); });
    for (const std::unique_ptr<Entry>& entry : entries) {
      if (entry->geometry.sizes == weight.sizes() && entry->geometry.strides == weight.strides() &&
          entry->geometry.offset == weight.offset())
        return entry->packed;
    }
    entries.push_back(std::make_unique<Entry>(Entry{weight.storage(), weight.geometry(), {}}));
    return entries.back()->packed;
  }

  std::mutex mutex_;
  std::unordered_map<const Storage*, std::vector<std::unique_ptr<Entry>>> entries_;
};

}  // namespace flambeau::runtime
