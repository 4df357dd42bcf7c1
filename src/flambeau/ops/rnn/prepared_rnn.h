// Recurrent networks with their weights packed once: Elman networks, LSTM and GRU, of any number of layers,
// in one or both directions, over sequences of equal or of different lengths.
//
// The gates of the input are one matrix product for all steps; each step adds one small product with the
// packed hidden weights. float16 and bfloat16 are computed with as float32.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "flambeau/ops/mechanism/facts.h"

namespace flambeau::ops {

struct RnnShape {
  RnnKind kind = RnnKind::kLstm;
  bool has_biases = true;
  bool has_projection = false;  // of an LSTM's output to fewer elements
  int64_t layers = 1;
  bool is_bidirectional = false;

  int64_t directions() const { return is_bidirectional ? 2 : 1; }
  // How many hidden units a gate has for each row of the weights.
  int64_t gates() const { return kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1; }
  size_t parameters_in_cell() const { return 2U + (has_biases ? 2U : 0U) + (has_projection ? 1U : 0U); }
};

// A sequence with its steps first, as PreparedRnn takes it, seen in one that may have the batch first.
Tensor by_steps(const Tensor& sequence, bool batch_first);

class PreparedRnn {
 public:
  // `parameters` in PyTorch's order: for each layer and direction w_ih, w_hh, b_ih, b_hh, w_hr. They are
  // packed: the tensors need not live on. Throws Error(kInvalidArgument) for a wrong number of them or sizes
  // that do not fit.
  PreparedRnn(Context& context, const RnnShape& shape, std::span<const Tensor> parameters);
  ~PreparedRnn();
  PreparedRnn(PreparedRnn&&) noexcept;
  PreparedRnn& operator=(PreparedRnn&&) noexcept;

  const RnnShape& shape() const;
  int64_t output_size() const;  // elements per step and direction

  // `input` has rows of [steps and batch, features], step after step; step t has batch_sizes[t] rows, which
  // do not grow from step to step. h0, c0 (LSTM only, else null), hy and cy are [layers * directions, batch,
  // size]; `out` has the input's rows, of directions * output_size() elements. All results are packed.
  // `dropout` (0: none) falls on what passes between layers. May run on several threads at once, each with
  // its own context.
  void run(Context& context, const Tensor& input, std::span<const int64_t> batch_sizes, const Tensor& h0,
           const Tensor* c0, const Tensor& out, const Tensor& hy, const Tensor* cy, double dropout = 0) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace flambeau::ops
