// softmax(scale * query * key^T + mask) * value for a batch of heads, a block of queries and a block of keys
// at a time: the memory it takes does not grow with the square of the sequence's length.
//
// The largest score is subtracted before exponentials are taken; a row with nothing to attend to gives zeros.
// Fast at: float32, and heads whose last dimension has stride 1.
#pragma once

#include <cstdint>

#include "flambeau/ops/mechanism/context.h"

namespace flambeau::ops {

// All of them float32 or float64, and of one type. Ranks are equal; dimensions before the last two broadcast
// to those of `out`.
struct AttentionTensors {
  Tensor query;          // [..., L, E]
  Tensor key;            // [..., S, E]
  Tensor value;          // [..., S, V]
  Tensor mask = {};      // undefined, or [..., L, S]: added to the scores
  Tensor out;            // [..., L, V]
  Tensor weights = {};   // undefined, or [..., L, S]: gets the softmax itself
  Tensor log_sums = {};  // undefined, or [..., L, 1]: gets log(sum of exp(scores))
  // The type that exponentials are rounded to before they meet the values: PyTorch's fused kernel does so.
  DType rounding = DType::kFloat32;
};

void attend(Context& context, const AttentionTensors& tensors, double scale, bool is_causal);

}  // namespace flambeau::ops
