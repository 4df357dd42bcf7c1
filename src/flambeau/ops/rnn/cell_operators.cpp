// Single steps of recurrent networks: lstm_cell, gru_cell, rnn_tanh_cell, rnn_relu_cell, and the fused cells
// that take finished gates.
#include <vector>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/rnn/cells.h"
#include "flambeau/ops/rnn/prepared_rnn.h"
#include "flambeau/ops/rnn/steps.h"
#include "flambeau/tensor/elements/compute.h"

namespace flambeau::ops {
namespace {

// A cell is a sequence of one step; vectors are batches of one.
template <typename N>
Info<N> cell_info(const Info<N>& input, const Info<N>& hx) {
  require(input.dim() == hx.dim() && (input.dim() == 1 || input.dim() == 2),
          "RNN cell: Expected input and hidden state to have 1 or 2 dimensions");
  require(input.dim() == 1 || input.sizes[0] == hx.sizes[0],
          "RNN cell: Input batch size doesn't match hidden batch size");
  return contiguous<N>(hx.dtype, hx.sizes, hx.device);
}

Tensor with_dims(Tensor tensor, size_t rank) {
  while (tensor.dim() < rank) tensor = unsqueezed(tensor, 0);
  return tensor;
}

void run_cell(Context& context, RnnKind kind, const Tensor& input, const Tensor& h, const Tensor* c,
              const Tensor& w_ih, const Tensor& w_hh, const Tensor* b_ih, const Tensor* b_hh,
              const Tensor& hy, const Tensor* cy) {
  require(w_ih.dim() == 2 && w_hh.dim() == 2, "RNN cell: the weights must be matrices");
  std::vector<Tensor> parameters = {w_ih, w_hh};
  RnnShape shape{.kind = kind, .has_biases = b_ih != nullptr || b_hh != nullptr};
  if (shape.has_biases) {
    Tensor zeros = context.allocate(w_ih.dtype(), Dims{w_ih.sizes()[0]});
    fill(context, zeros, 0);
    parameters.push_back(b_ih != nullptr ? *b_ih : zeros);
    parameters.push_back(b_hh != nullptr ? *b_hh : zeros);
  }
  const Tensor rows = with_dims(input, 2);
  const int64_t batch_sizes[] = {rows.sizes()[0]};
  const Tensor out = context.allocate(hy.dtype(), with_dims(hy, 2).sizes());
  const Tensor h3 = with_dims(h, 3), hy3 = with_dims(hy, 3);
  Tensor c3, cy3;
  if (c != nullptr) {
    c3 = with_dims(*c, 3);
    cy3 = with_dims(*cy, 3);
  }
  PreparedRnn(context, shape, parameters)
      .run(context, rows, batch_sizes, h3, c == nullptr ? nullptr : &c3, out, hy3,
           c == nullptr ? nullptr : &cy3);
}

template <typename N>
std::tuple<Info<N>, Info<N>> lstm_cell_shape(const Info<N>& input, std::span<const Info<N>> hx,
                                             const Info<N>&, const Info<N>&, const Info<N>*, const Info<N>*) {
  require(hx.size() == 2, "lstm_cell expects two hidden states");
  return {cell_info(input, hx[0]), cell_info(input, hx[1])};
}
void lstm_cell_kernel(Context& context, const Tensor& input, std::span<const Tensor> hx, const Tensor& w_ih,
                      const Tensor& w_hh, const Tensor* b_ih, const Tensor* b_hh, Tensor& hy, Tensor& cy) {
  run_cell(context, RnnKind::kLstm, input, hx[0], &hx[1], w_ih, w_hh, b_ih, b_hh, hy, &cy);
}

template <typename N>
Info<N> rnn_cell_shape(const Info<N>& input, const Info<N>& hx, const Info<N>&, const Info<N>&,
                       const Info<N>*, const Info<N>*) {
  return cell_info(input, hx);
}
template <RnnKind kKind>
void rnn_cell_kernel(Context& context, const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                     const Tensor& w_hh, const Tensor* b_ih, const Tensor* b_hh, Tensor& hy) {
  run_cell(context, kKind, input, hx, nullptr, w_ih, w_hh, b_ih, b_hh, hy, nullptr);
}

// ---- fused cells: gates are given, results include what training keeps

// The sum of gates and their biases, in the compute type, packed.
template <typename T>
std::vector<T> gathered(Context& context, std::initializer_list<const Tensor*> parts, int64_t rows,
                        int64_t width) {
  std::vector<T> sum(static_cast<size_t>(rows * width), T(0));
  for (const Tensor* const part : parts) {
    if (part == nullptr) continue;
    const Tensor numbers =
        context.allocate(std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64, Dims{rows, width});
    copy_into(context, *part, numbers);
    cell_loops<T>().sum(sum.data(), numbers.data<T>(), sum.data(), rows * width);
  }
  return sum;
}

template <typename T>
void scatter(Context& context, const std::vector<T>& numbers, const Tensor& to) {
  const Tensor made =
      context.allocate(std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64, to.sizes());
  require(static_cast<int64_t>(numbers.size()) == made.element_count(),
          "the parts of a cell do not fit each other");
  std::copy(numbers.begin(), numbers.end(), made.mutable_data<T>());
  copy_into(context, made, to);
}

template <typename Body>
void with_number_type(DType dtype, std::string_view what, Body&& body) {
  if (!is_floating(dtype)) fail_dtype(what, dtype);
  compute_dtype(dtype) == DType::kFloat64 ? body(double{}) : body(float{});
}

template <typename N>
bool are_gates(const Info<N>& gates, const Info<N>& state, int64_t count) {
  return gates.dim() == 2 && state.dim() == 2 && gates.sizes[0] == state.sizes[0] &&
         gates.sizes[1] == state.sizes[1] * N(count);
}

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> fused_lstm_shape(const Info<N>& input_gates,
                                                       const Info<N>& hidden_gates, const Info<N>& cx,
                                                       const Info<N>*, const Info<N>*) {
  require(are_gates(input_gates, cx, 4) && are_gates(hidden_gates, cx, 4),
          "the gates of an LSTM cell must have four times the size of its state");
  const Info<N> state = contiguous<N>(cx.dtype, cx.sizes, cx.device);
  return {state, state, contiguous<N>(cx.dtype, input_gates.sizes, cx.device)};
}

void fused_lstm_kernel(Context& context, const Tensor& input_gates, const Tensor& hidden_gates,
                       const Tensor& cx, const Tensor* input_bias, const Tensor* hidden_bias, Tensor& hy,
                       Tensor& cy, Tensor& workspace) {
  with_number_type(cx.dtype(), "_thnn_fused_lstm_cell", [&]<typename T>(T) {
    const int64_t rows = cx.sizes()[0];
    const int64_t hidden = cx.sizes()[1];
    std::vector<T> gates =
        gathered<T>(context, {&input_gates, &hidden_gates, input_bias, hidden_bias}, rows, 4 * hidden);
    std::vector<T> state = gathered<T>(context, {&cx}, rows, hidden);
    std::vector<T> out(state.size());
    for (int64_t b = 0; b < rows; ++b) {
      lstm_cell(gates.data() + b * 4 * hidden, state.data() + b * hidden, out.data() + b * hidden, hidden);
    }
    scatter(context, out, hy);
    scatter(context, state, cy);
    scatter(context, gates, workspace);
  });
}

template <typename N>
std::tuple<Info<N>, Info<N>> fused_gru_shape(const Info<N>& input_gates, const Info<N>& hidden_gates,
                                             const Info<N>& hx, const Info<N>*, const Info<N>*) {
  require(are_gates(input_gates, hx, 3) && are_gates(hidden_gates, hx, 3),
          "the gates of a GRU cell must have three times the size of its state");
  return {contiguous<N>(hx.dtype, hx.sizes, hx.device),
          contiguous<N>(hx.dtype, {hx.sizes[0], hx.sizes[1] * N(5)}, hx.device)};
}

// The workspace holds reset, update and new gates, the old state, and the new gate's hidden part.
void fused_gru_kernel(Context& context, const Tensor& input_gates, const Tensor& hidden_gates,
                      const Tensor& hx, const Tensor* input_bias, const Tensor* hidden_bias, Tensor& hy,
                      Tensor& workspace) {
  with_number_type(hx.dtype(), "_thnn_fused_gru_cell", [&]<typename T>(T) {
    const int64_t rows = hx.sizes()[0];
    const int64_t hidden = hx.sizes()[1];
    std::vector<T> from_input = gathered<T>(context, {&input_gates, input_bias}, rows, 3 * hidden);
    std::vector<T> from_hidden = gathered<T>(context, {&hidden_gates, hidden_bias}, rows, 3 * hidden);
    std::vector<T> state = gathered<T>(context, {&hx}, rows, hidden);
    std::vector<T> kept(static_cast<size_t>(rows * 5 * hidden));
    for (int64_t b = 0; b < rows; ++b) {
      T* const gates = from_input.data() + b * 3 * hidden;
      T* const saved = kept.data() + b * 5 * hidden;
      std::copy_n(state.data() + b * hidden, hidden, saved + 3 * hidden);
      std::copy_n(from_hidden.data() + b * 3 * hidden + 2 * hidden, hidden, saved + 4 * hidden);
      gru_cell(gates, from_hidden.data() + b * 3 * hidden, state.data() + b * hidden, hidden);
      std::copy_n(gates, 3 * hidden, saved);
    }
    scatter(context, state, hy);
    scatter(context, kept, workspace);
  });
}

// ---- as other operators
std::tuple<Tensor, Tensor> lstm_cell_parts(Context& c, const Tensor& input, std::span<const Tensor> hx,
                                           const Tensor& w_ih, const Tensor& w_hh, const Tensor* b_ih,
                                           const Tensor* b_hh) {
  const TensorList states =
      run_step(c, RnnKind::kLstm, input, TensorList(hx.begin(), hx.end()), w_ih, w_hh, b_ih, b_hh);
  return {states[0], states[1]};
}
template <RnnKind kKind>
Tensor rnn_cell_parts(Context& c, const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                      const Tensor& w_hh, const Tensor* b_ih, const Tensor* b_hh) {
  return run_step(c, kKind, input, {hx}, w_ih, w_hh, b_ih, b_hh)[0];
}

}  // namespace

void define_cell_operators(Library& library) {
  library
      .define(
          "aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
          "b_hh=None) -> (Tensor, Tensor)")
      .shape<lstm_cell_shape<Size>, lstm_cell_shape<SymInt>>()
      .kernel<lstm_cell_kernel>()
      .composite<lstm_cell_parts>();
  library
      .define(
          "aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
          "b_hh=None) -> Tensor")
      .shape<rnn_cell_shape<Size>, rnn_cell_shape<SymInt>>()
      .kernel<rnn_cell_kernel<RnnKind::kGru>>()
      .composite<rnn_cell_parts<RnnKind::kGru>>();
  library
      .define(
          "aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
          "b_hh=None) -> Tensor")
      .shape<rnn_cell_shape<Size>, rnn_cell_shape<SymInt>>()
      .kernel<rnn_cell_kernel<RnnKind::kTanh>>()
      .composite<rnn_cell_parts<RnnKind::kTanh>>();
  library
      .define(
          "aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
          "b_hh=None) -> Tensor")
      .shape<rnn_cell_shape<Size>, rnn_cell_shape<SymInt>>()
      .kernel<rnn_cell_kernel<RnnKind::kRelu>>()
      .composite<rnn_cell_parts<RnnKind::kRelu>>();
  library
      .define(
          "aten::_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? "
          "input_bias=None, Tensor? hidden_bias=None) -> (Tensor, Tensor, Tensor)")
      .shape<fused_lstm_shape<Size>, fused_lstm_shape<SymInt>>()
      .kernel<fused_lstm_kernel>();
  library
      .define(
          "aten::_thnn_fused_gru_cell(Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? "
          "input_bias=None, Tensor? hidden_bias=None) -> (Tensor, Tensor)")
      .shape<fused_gru_shape<Size>, fused_gru_shape<SymInt>>()
      .kernel<fused_gru_kernel>();
}

}  // namespace flambeau::ops
