// Recurrent layers step by step, as other operators.
#pragma once

#include <span>
#include <vector>

#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/rnn/prepared_rnn.h"

namespace flambeau::ops {

// What whole layers are given besides tensors. The dropout between layers is left out, as PyTorch leaves it.
struct StepLayers {
  RnnKind kind;
  bool has_biases;
  int64_t count;
  bool is_two_way;
  bool is_batch_first;
};

// States of each kind for every layer and direction. Gives the output, and the last states of each kind.
std::vector<Value> run_steps(Context& context, Tensor input, std::span<const Tensor> states,
                             std::span<const Tensor> parameters, const StepLayers& layers);

// One step of one layer: the states, one of each kind, after it.
TensorList run_step(Context& context, RnnKind kind, const Tensor& input, TensorList states,
                    const Tensor& w_ih, const Tensor& w_hh, const Tensor* b_ih, const Tensor* b_hh);

}  // namespace flambeau::ops
