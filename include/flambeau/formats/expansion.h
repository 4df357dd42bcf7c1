// How far the tensors of one file may be laid out. A view with a stride of 0 describes terabytes with four
// bytes of storage, and a thousand names may share one storage: opening such a file costs nothing, but
// writing every element down, or looking at each, would take the disk or the day.
#pragma once

#include <cstdint>
#include <span>

#include "flambeau/formats/checkpoint.h"

namespace flambeau {

// The rule stands here and not in Tensor::to_contiguous(): a program may expand its own tensors as it likes,
// a stranger's file may not make it do so. In all, the tensors of a file may take 64 MB or 16 times what
// their storages hold, whichever is more; weights that are shared or broadcast stay far below.
class ExpansionBudget {
 public:
  static constexpr uint64_t kFree = 64ULL << 20;
  static constexpr uint64_t kFactor = 16;

  explicit ExpansionBudget(std::span<const CheckpointTensor> tensors);

  // To be called before the elements of a tensor are read or written one by one. Throws Error(kLimit).
  void spend(const Tensor& tensor);

 private:
  uint64_t stored_ = 0;
  uint64_t most_ = kFree;
  uint64_t spent_ = 0;
};

}  // namespace flambeau
