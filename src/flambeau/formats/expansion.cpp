#include "flambeau/formats/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"

namespace flambeau {
namespace {

constexpr uint64_t kUnbounded = std::numeric_limits<uint64_t>::max();

// The bytes of the storages that no earlier tensor had.
uint64_t new_bytes(const Tensor& tensor, std::unordered_set<const Storage*>& seen) {
  if (const SparseParts* parts = tensor.sparse_parts()) {
    uint64_t total = 0;
    for (const Tensor* part :
         {&parts->indices, &parts->compressed_indices, &parts->plain_indices, &parts->values}) {
      if (part->defined()) total = try_add(total, new_bytes(*part, seen)).value_or(kUnbounded);
    }
    return total;
  }
  const Storage* storage = tensor.storage().get();
  const bool counts = storage != nullptr && !storage->is_meta() && seen.insert(storage).second;
  return counts ? storage->size() : 0;
}

}  // namespace

ExpansionBudget::ExpansionBudget(std::span<const CheckpointTensor> tensors) {
  std::unordered_set<const Storage*> seen;
  for (const CheckpointTensor& entry : tensors) {
    stored_ = try_add(stored_, new_bytes(entry.tensor, seen)).value_or(kUnbounded);
  }
  most_ = std::max(kFree, try_mul(stored_, kFactor).value_or(kUnbounded));
}

void ExpansionBudget::spend(const Tensor& tensor) {
  if (tensor.is_meta()) return;
  // Quantized tensors are looked at as float32, twice when they are compared.
  const uint64_t bytes = tensor.quantizer() == nullptr
                             ? tensor.byte_count()
                             : try_mul<uint64_t>(tensor.element_count(), 8).value_or(kUnbounded);
  if (bytes > most_ - spent_) {
    throw Error(
        ErrorCode::kLimit,
        fmt::format(
            "{} takes {} bytes when laid out, and the tensors before it {}; the file stores {} in all, "
            "which allows {}",
            tensor.summary(), bytes, spent_, stored_, most_),
        "leave it out, or save it in PyTorch as a tensor of its own (clone)");
  }
  spent_ += bytes;
}

}  // namespace flambeau
