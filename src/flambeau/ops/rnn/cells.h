// What a recurrent network does with one row of gates, once matrix products have made them.
#pragma once

#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::ops {

// Arrays of `hidden` elements each; gates lie one after the other. `gates` is overwritten.
template <typename T>
struct CellLoops {
  // to[i] = a[i] * b[i] + c[i] * d[i]
  void (*sum_of_products)(const T* a, const T* b, const T* c, const T* d, T* to, int64_t count);
  // to[i] = a[i] * b[i]
  void (*product)(const T* a, const T* b, T* to, int64_t count);
  // to[i] = a[i] + b[i]
  void (*sum)(const T* a, const T* b, T* to, int64_t count);
  // to[i] = a[i] + b[i] * c[i]
  void (*add_product)(const T* a, const T* b, const T* c, T* to, int64_t count);
  // state[i] = (state[i] - fresh[i]) * keep[i] + fresh[i]
  void (*mix)(const T* fresh, const T* keep, T* state, int64_t count);
  // to[i] = max(a[i], 0), NaN stays
  void (*relu)(const T* a, T* to, int64_t count);
};

#define FLAMBEAU_DECLARE_CELLS(isa)        \
  namespace isa {                          \
  const CellLoops<float>& float_cells();   \
  const CellLoops<double>& double_cells(); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_CELLS)
#undef FLAMBEAU_DECLARE_CELLS

template <typename T>
const CellLoops<T>& cell_loops();
template <>
inline const CellLoops<float>& cell_loops<float>() {
  return FLAMBEAU_PICK(float_cells)();
}
template <>
inline const CellLoops<double>& cell_loops<double>() {
  return FLAMBEAU_PICK(double_cells)();
}

// input, forget, cell and output gates (after this: their activations); `state` gets the new cell state, `to`
// the output.
template <typename T>
void lstm_cell(T* gates, T* state, T* to, int64_t hidden);
// The input's gates (reset, update, new) and those of the hidden state, each with its bias; `state` becomes
// the new one.
template <typename T>
void gru_cell(T* input_gates, T* hidden_gates, T* state, int64_t hidden);

extern template void lstm_cell(float*, float*, float*, int64_t);
extern template void lstm_cell(double*, double*, double*, int64_t);
extern template void gru_cell(float*, float*, float*, int64_t);
extern template void gru_cell(double*, double*, double*, int64_t);

}  // namespace flambeau::ops
