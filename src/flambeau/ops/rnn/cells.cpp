#include "flambeau/ops/rnn/cells.h"

#include "flambeau/kernels/math/vector_math.h"

namespace flambeau::ops {

template <typename T>
void lstm_cell(T* gates, T* state, T* to, int64_t hidden) {
  const CellLoops<T>& loops = cell_loops<T>();
  const auto count = static_cast<size_t>(hidden);
  T* const fresh = gates + 2 * hidden;
  T* const open = gates + 3 * hidden;
  kernels::vector_math::sigmoid(gates, gates, 2 * count);
  kernels::vector_math::tanh(fresh, fresh, count);
  kernels::vector_math::sigmoid(open, open, count);
  loops.sum_of_products(gates + hidden, state, gates, fresh, state, hidden);
  kernels::vector_math::tanh(state, to, count);
  loops.product(to, open, to, hidden);
}

template <typename T>
void gru_cell(T* input_gates, T* hidden_gates, T* state, int64_t hidden) {
  const CellLoops<T>& loops = cell_loops<T>();
  const auto count = static_cast<size_t>(hidden);
  T* const fresh = input_gates + 2 * hidden;
  loops.sum(input_gates, hidden_gates, input_gates, 2 * hidden);
  kernels::vector_math::sigmoid(input_gates, input_gates, 2 * count);
  loops.add_product(fresh, input_gates, hidden_gates + 2 * hidden, fresh, hidden);
  kernels::vector_math::tanh(fresh, fresh, count);
  loops.mix(fresh, input_gates + hidden, state, hidden);
}

template void lstm_cell(float*, float*, float*, int64_t);
template void lstm_cell(double*, double*, double*, int64_t);
template void gru_cell(float*, float*, float*, int64_t);
template void gru_cell(double*, double*, double*, int64_t);

}  // namespace flambeau::ops
