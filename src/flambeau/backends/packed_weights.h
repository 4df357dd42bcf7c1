// Constant weights as the plans of a program have packed them: a plan for other shapes needs no copy of its
// own.
#pragma once

#include <any>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "flambeau/tensor/tensor.h"

namespace flambeau::backends {

class PackedWeights {
 public:
  // Calls use(packed) with the Packed that there is of these weights, a fresh one at first; one caller at a
  // time.
  template <typename Packed, typename Use>
  auto with(const Tensor& weight, Use&& use) {
    const std::lock_guard lock(mutex_);
    return std::forward<Use>(use)(find<Packed>(weight));
  }

 private:
  struct Entry {
    std::weak_ptr<Storage> storage;  // gone: another one may be at its address
    Geometry geometry;
    std::any packed;
  };
  template <typename Packed>
  Packed& find(const Tensor& weight) {
    std::vector<std::unique_ptr<Entry>>& entries = entries_[weight.storage().get()];
    std::erase_if(entries, [](const auto& entry) { return entry->storage.expired(); });
    for (const std::unique_ptr<Entry>& entry : entries) {
      if (entry->geometry.sizes != weight.sizes() || entry->geometry.strides != weight.strides() ||
          entry->geometry.offset != weight.offset())
        continue;
      if (auto* const packed = std::any_cast<Packed>(&entry->packed)) return *packed;
    }
    entries.push_back(std::make_unique<Entry>(Entry{weight.storage(), weight.geometry(), Packed()}));
    return *std::any_cast<Packed>(&entries.back()->packed);
  }

  std::mutex mutex_;
  std::unordered_map<const Storage*, std::vector<std::unique_ptr<Entry>>> entries_;
};

}  // namespace flambeau::backends
