// Recurrent networks over sequences: lstm, gru, rnn_tanh and rnn_relu, of padded and of packed batches.
#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/rnn/prepared_rnn.h"
#include "flambeau/ops/rnn/steps.h"

namespace flambeau::ops {
namespace {

using Tensors = std::span<const Tensor>;

// ---- sizes of results

template <typename N>
Info<N> sequence_info(const Info<N>& input, const N& width, bool batch_first) {
  require(input.dim() == 3, "RNN: the input must have 3 dimensions: sequence, batch and features");
  Info<N> out = contiguous<N>(input.dtype, {input.sizes[0], input.sizes[1], width}, input.device);
  if (batch_first) out.strides = {width, input.sizes[0] * width, 1};
  return out;
}

template <typename N>
Info<N> state_info(const Info<N>& hx) {
  require(hx.dim() == 3, "RNN: the hidden state must have 3 dimensions: layers, batch and features");
  return contiguous<N>(hx.dtype, hx.sizes, hx.device);
}

template <typename N>
void check_state(const Info<N>& hx, const N& batch, int64_t cells) {
  state_info(hx);
  if (!(hx.sizes[0] == N(cells)) || !(hx.sizes[1] == batch)) {
    fail_argument(fmt::format("Expected hidden size ({}, {}, {}), got [{}, {}, {}]", cells,
                              number_text(batch), number_text(hx.sizes[2]), number_text(hx.sizes[0]),
                              number_text(hx.sizes[1]), number_text(hx.sizes[2])));
  }
}

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> lstm_shape(const Info<N>& input, std::span<const Info<N>> hx,
                                                 std::span<const Info<N>>, bool, Size num_layers, double,
                                                 bool, bool bidirectional, bool batch_first) {
  require(hx.size() == 2, "lstm expects two hidden states");
  const int64_t directions = bidirectional ? 2 : 1;
  state_info(hx[0]);
  Info<N> out = sequence_info<N>(input, hx[0].sizes[2] * N(directions), batch_first);
  for (const Info<N>& state : hx)
    check_state<N>(state, input.sizes[batch_first ? 0 : 1], num_layers * directions);
  return {std::move(out), state_info(hx[0]), state_info(hx[1])};
}

template <typename N>
std::tuple<Info<N>, Info<N>> rnn_shape(const Info<N>& input, const Info<N>& hx, std::span<const Info<N>>,
                                       bool, Size num_layers, double, bool, bool bidirectional,
                                       bool batch_first) {
  const int64_t directions = bidirectional ? 2 : 1;
  state_info(hx);
  Info<N> out = sequence_info<N>(input, hx.sizes[2] * N(directions), batch_first);
  check_state<N>(hx, input.sizes[batch_first ? 0 : 1], num_layers * directions);
  return {std::move(out), state_info(hx)};
}

// ---- padded batches

void run_padded(Context& context, const RnnShape& shape, Tensors params, const Tensor& input,
                bool batch_first, const Tensor& h0, const Tensor* c0, double dropout, const Tensor& out,
                const Tensor& hy, const Tensor* cy) {
  const Tensor steps = by_steps(input, batch_first);
  require(steps.sizes()[0] > 0, "Expected sequence length to be larger than 0 in RNN");
  const std::vector<int64_t> batch_sizes(static_cast<size_t>(steps.sizes()[0]), steps.sizes()[1]);
  const PreparedRnn prepared(context, shape, params);
  prepared.run(context, steps, batch_sizes, h0, c0, by_steps(out, batch_first), hy, cy, dropout);
}

bool has_projection(const Tensor& h, const Tensor& c) { return h.sizes()[2] != c.sizes()[2]; }

void lstm_kernel(Context& context, const Tensor& input, Tensors hx, Tensors params, bool has_biases,
                 Size num_layers, double dropout, bool train, bool bidirectional, bool batch_first,
                 Tensor& out, Tensor& hy, Tensor& cy) {
  const RnnShape shape{RnnKind::kLstm, has_biases, has_projection(hx[0], hx[1]), num_layers, bidirectional};
  run_padded(context, shape, params, input, batch_first, hx[0], &hx[1], train ? dropout : 0, out, hy, &cy);
}

template <RnnKind kKind>
void rnn_kernel(Context& context, const Tensor& input, const Tensor& hx, Tensors params, bool has_biases,
                Size num_layers, double dropout, bool train, bool bidirectional, bool batch_first,
                Tensor& out, Tensor& hy) {
  run_padded(context, {kKind, has_biases, false, num_layers, bidirectional}, params, input, batch_first, hx,
             nullptr, train ? dropout : 0, out, hy, nullptr);
}

// ---- packed batches: rows of all steps one after the other

template <typename N>
Info<N> packed_info(const Info<N>& data, const N& width) {
  require(data.dim() == 2, "RNN: packed data must have 2 dimensions");
  return contiguous<N>(data.dtype, {data.sizes[0], width}, data.device);
}

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> packed_lstm_shape(const Info<N>& data, const Info<N>&,
                                                        std::span<const Info<N>> hx, std::span<const Info<N>>,
                                                        bool, Size, double, bool, bool bidirectional) {
  require(hx.size() == 2, "lstm expects two hidden states");
  Info<N> hy = state_info(hx[0]);
  Info<N> cy = state_info(hx[1]);
  return {packed_info<N>(data, hy.sizes[2] * N(bidirectional ? 2 : 1)), hy, cy};
}

template <typename N>
std::tuple<Info<N>, Info<N>> packed_rnn_shape(const Info<N>& data, const Info<N>&, const Info<N>& hx,
                                              std::span<const Info<N>>, bool, Size, double, bool,
                                              bool bidirectional) {
  Info<N> hy = state_info(hx);
  return {packed_info<N>(data, hy.sizes[2] * N(bidirectional ? 2 : 1)), hy};
}

void run_packed(Context& context, const RnnShape& shape, Tensors params, const Tensor& data,
                const Tensor& batch_sizes, const Tensor& h0, const Tensor* c0, double dropout,
                const Tensor& out, const Tensor& hy, const Tensor* cy) {
  require(batch_sizes.dtype() == DType::kInt64 && batch_sizes.dim() == 1,
          "RNN: batch_sizes must be a vector of int64");
  const Tensor sizes = batch_sizes.to_contiguous();
  const std::vector<int64_t> counts(sizes.data<int64_t>(), sizes.data<int64_t>() + sizes.element_count());
  require(!counts.empty(), "RNN: batch_sizes must not be empty");
  for (size_t i = 0; i < counts.size(); ++i) {
    require(counts[i] > 0 && counts[i] <= (i == 0 ? h0.sizes()[1] : counts[i - 1]),
            "RNN: batch_sizes must be positive and must not grow");
  }
  require(std::accumulate(counts.begin(), counts.end(), int64_t{0}) == data.sizes()[0],
          "RNN: batch_sizes do not add up to the rows of the data");
  const PreparedRnn prepared(context, shape, params);
  prepared.run(context, data, counts, h0, c0, out, hy, cy, dropout);
}

void packed_lstm_kernel(Context& context, const Tensor& data, const Tensor& batch_sizes, Tensors hx,
                        Tensors params, bool has_biases, Size num_layers, double dropout, bool train,
                        bool bidirectional, Tensor& out, Tensor& hy, Tensor& cy) {
  const RnnShape shape{RnnKind::kLstm, has_biases, has_projection(hx[0], hx[1]), num_layers, bidirectional};
  run_packed(context, shape, params, data, batch_sizes, hx[0], &hx[1], train ? dropout : 0, out, hy, &cy);
}

template <RnnKind kKind>
void packed_rnn_kernel(Context& context, const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
                       Tensors params, bool has_biases, Size num_layers, double dropout, bool train,
                       bool bidirectional, Tensor& out, Tensor& hy) {
  run_packed(context, {kKind, has_biases, false, num_layers, bidirectional}, params, data, batch_sizes, hx,
             nullptr, train ? dropout : 0, out, hy, nullptr);
}

std::vector<Value> lstm_parts(Context& c, const Tensor& input, Tensors hx, Tensors params, bool has_biases,
                              Size num_layers, double, bool, bool bidirectional, bool batch_first) {
  return run_steps(c, input, hx, params,
                   {RnnKind::kLstm, has_biases, num_layers, bidirectional, batch_first});
}
template <RnnKind kKind>
std::vector<Value> rnn_parts(Context& c, const Tensor& input, const Tensor& hx, Tensors params,
                             bool has_biases, Size num_layers, double, bool, bool bidirectional,
                             bool batch_first) {
  return run_steps(c, input, std::span(&hx, 1), params,
                   {kKind, has_biases, num_layers, bidirectional, batch_first});
}

RecurrentCall lstm_call(const Tensor& input, Tensors hx, Tensors params, bool has_biases, Size num_layers,
                        double dropout, bool train, bool bidirectional, bool batch_first) {
  return {RnnKind::kLstm,      &input,        hx,         params, has_biases, num_layers,
          train ? dropout : 0, bidirectional, batch_first};
}
template <RnnKind kKind>
RecurrentCall rnn_call(const Tensor& input, const Tensor& hx, Tensors params, bool has_biases,
                       Size num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  return {kKind,         &input,     {&hx, 1}, params, has_biases, num_layers, train ? dropout : 0,
          bidirectional, batch_first};
}

// Every weight meets every row of the input.
uint64_t recurrent_work(const Tensor&, const Tensor& input, const Value&, Tensors params) {
  if (input.dim() < 2 || input.sizes().back() == 0) return 0;
  int64_t weights = 0;
  for (const Tensor& tensor : params) weights += tensor.dim() == 2 ? tensor.element_count() : 0;
  return static_cast<uint64_t>(2 * weights * (input.element_count() / input.sizes().back()));
}

template <RnnKind kKind>
void define_kind(Library& library, std::string_view padded, std::string_view packed_batch) {
  library.define(padded)
      .template shape<rnn_shape<Size>, rnn_shape<SymInt>>()
      .template kernel<rnn_kernel<kKind>>()
      .template composite<rnn_parts<kKind>>()
      .template describe<rnn_call<kKind>>()
      .template work<recurrent_work>();
  library.define(packed_batch)
      .template shape<packed_rnn_shape<Size>, packed_rnn_shape<SymInt>>()
      .template kernel<packed_rnn_kernel<kKind>>();
}

}  // namespace

void define_rnn(Library& library) {
  library
      .define(
          "aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, "
          "float "
          "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)")
      .shape<lstm_shape<Size>, lstm_shape<SymInt>>()
      .kernel<lstm_kernel>()
      .composite<lstm_parts>()
      .describe<lstm_call>()
      .work<recurrent_work>();
  library
      .define(
          "aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, "
          "int "
          "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)")
      .shape<packed_lstm_shape<Size>, packed_lstm_shape<SymInt>>()
      .kernel<packed_lstm_kernel>();
#define FLAMBEAU_RNN(kind, name)                                                                             \
  define_kind<RnnKind::kind>(                                                                                \
      library,                                                                                               \
      "aten::" name                                                                                          \
      ".input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "    \
      "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",                               \
      "aten::" name                                                                                          \
      ".data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, " \
      "float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)")
  FLAMBEAU_RNN(kGru, "gru");
  FLAMBEAU_RNN(kTanh, "rnn_tanh");
  FLAMBEAU_RNN(kRelu, "rnn_relu");
#undef FLAMBEAU_RNN
}

}  // namespace flambeau::ops
