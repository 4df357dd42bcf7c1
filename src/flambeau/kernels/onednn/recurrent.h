// One layer and direction of a recurrent network by oneDNN, float32.
#pragma once

#include "flambeau/kernels/onednn/matmul.h"
#include "flambeau/kernels/onednn/onednn.h"

namespace flambeau::kernels::onednn {

enum class RecurrentKind : uint8_t { kLstm, kGru, kTanh, kRelu };

// Sizes of arrays as PyTorch has them, time first: source [time, batch, inputs], result [time, batch,
// hidden], states [batch, hidden].
struct RecurrentShape {
  RecurrentKind kind = RecurrentKind::kLstm;
  bool reverse = false;  // from the last step to the first; results stay where their step is
  int64_t time = 1, batch = 1, inputs = 1, hidden = 1;
};

class RecurrentLayer : public Layer {
 public:
  // Weights and biases in PyTorch's order of gates: [gates * hidden, inputs], [gates * hidden, hidden] and
  // twice [gates * hidden], the biases null for none. All are packed or copied.
  RecurrentLayer(const RecurrentShape& shape, const float* input_weights, const float* hidden_weights,
                 const float* input_bias, const float* hidden_bias);

  // The cell states are those of an LSTM, null for the others.
  void run(const float* source, const float* hidden, const float* cell, float* result, float* last_hidden,
           float* last_cell, void* scratch) const;

 private:
  bool has_cell_;
};

}  // namespace flambeau::kernels::onednn
