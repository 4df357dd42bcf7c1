// How much an operator's call does: what it moves, and how many operations on numbers it takes. For profiles.
#pragma once

#include <cstdint>
#include <span>

#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::runtime {

struct Work {
  uint64_t bytes = 0;  // of the tensors it reads and writes, each once; nothing for views
  uint64_t flops = 0;  // a multiplication and an addition are two; 0 for what only moves numbers
};

// Sizes are all it looks at.
Work work_of(const ops::Operator& op, std::span<const Value> arguments, std::span<const Tensor> outputs);

}  // namespace flambeau::runtime
