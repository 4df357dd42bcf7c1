#include "flambeau/ops/rnn/steps.h"

#include <algorithm>

namespace flambeau::ops {
namespace {

Tensor linear(Context& c, const Tensor& input, const Tensor& weight, const Tensor* bias) {
  return call(c, "aten::linear", input, weight, bias);
}
Tensor sigmoid(Context& c, const Tensor& a) { return call(c, "aten::sigmoid", a); }
Tensor tanh(Context& c, const Tensor& a) { return call(c, "aten::tanh", a); }
TensorList chunk(Context& c, const Tensor& a, int64_t count, int64_t dim) {
  return call<TensorList>(c, "aten::chunk", a, count, dim);
}

// The weights of one layer in one direction; null where there are none.
struct StepWeights {
  const Tensor* input;
  const Tensor* hidden;
  const Tensor* input_bias = nullptr;
  const Tensor* hidden_bias = nullptr;
  const Tensor* projection = nullptr;
};

// A step: what came in, already multiplied with its weights, and the states, which it replaces.
void lstm_step(Context& c, const Tensor& input, const StepWeights& weights, TensorList& states, int64_t dim) {
  const Tensor hidden = linear(c, states[0], *weights.hidden, weights.hidden_bias);
  const TensorList gates = chunk(c, parts::add(c, hidden, input), 4, dim);
  const Tensor in = sigmoid(c, gates[0]);
  const Tensor forget = sigmoid(c, gates[1]);
  const Tensor cell = tanh(c, gates[2]);
  const Tensor out = sigmoid(c, gates[3]);
  states[1] = parts::add(c, parts::mul(c, forget, states[1]), parts::mul(c, in, cell));
  states[0] = parts::mul(c, out, tanh(c, states[1]));
  if (weights.projection != nullptr) states[0] = linear(c, states[0], *weights.projection, nullptr);
}

void gru_step(Context& c, const Tensor& input, const StepWeights& weights, TensorList& states, int64_t dim) {
  const TensorList in = chunk(c, input, 3, 1);
  const TensorList hidden = chunk(c, linear(c, states[0], *weights.hidden, weights.hidden_bias), 3, dim);
  const Tensor reset = sigmoid(c, parts::add(c, hidden[0], in[0]));
  const Tensor update = sigmoid(c, parts::add(c, hidden[1], in[1]));
  const Tensor fresh = tanh(c, parts::add(c, in[2], parts::mul(c, hidden[2], reset)));
  states[0] = parts::add(c, parts::mul(c, parts::sub(c, states[0], fresh), update), fresh);
}

void step(Context& c, RnnKind kind, const Tensor& input, const StepWeights& weights, TensorList& states,
          int64_t dim) {
  if (kind == RnnKind::kLstm) return lstm_step(c, input, weights, states, dim);
  if (kind == RnnKind::kGru) return gru_step(c, input, weights, states, dim);
  const Tensor sum = parts::add(c, linear(c, states[0], *weights.hidden, weights.hidden_bias), input);
  states[0] = call(c, kind == RnnKind::kRelu ? "aten::relu" : "aten::tanh", sum);
}

// Gives the outputs of all steps; the states become those of the last one.
Tensor run_layer(Context& c, RnnKind kind, const Tensor& input, const StepWeights& weights,
                 TensorList& states, bool is_backward) {
  for (Tensor& state : states) state = call(c, "aten::unsqueeze", state, 0);
  Tensor steps = linear(c, input, *weights.input, weights.input_bias);
  if (is_backward) steps = call(c, "aten::flip", steps, Dims{0});
  TensorList outputs;
  for (const Tensor& now : call<TensorList>(c, "aten::unbind.int", steps, 0)) {
    step(c, kind, now, weights, states, 2);
    outputs.push_back(states[0]);
  }
  if (is_backward) std::ranges::reverse(outputs);
  Tensor output = call(c, "aten::cat", outputs, 0);
  for (Tensor& state : states) state = call(c, "aten::squeeze.dim", state, 0);
  return output;
}

StepWeights weights_of(std::span<const Tensor> own, bool has_biases) {
  StepWeights weights{.input = &own[0], .hidden = &own[1]};
  if (has_biases) {
    weights.input_bias = &own[2];
    weights.hidden_bias = &own[3];
  }
  if (own.size() % 2 == 1) weights.projection = &own.back();
  return weights;
}

}  // namespace

std::vector<Value> run_steps(Context& c, Tensor input, std::span<const Tensor> given,
                             std::span<const Tensor> parameters, const StepLayers& layers) {
  std::vector<TensorList> states;
  for (const Tensor& kind : given) states.push_back(call<TensorList>(c, "aten::unbind.int", kind, 0));
  const size_t directions = layers.is_two_way ? 2 : 1;
  const size_t each = parameters.size() / (directions * static_cast<size_t>(layers.count));
  if (layers.is_batch_first) input = call(c, "aten::transpose.int", input, 0, 1);
  std::vector<TensorList> last(states.size());
  for (size_t layer = 0; layer < static_cast<size_t>(layers.count); ++layer) {
    TensorList outputs;
    for (size_t direction = 0; direction < directions; ++direction) {
      const size_t place = layer * directions + direction;
      const StepWeights weights = weights_of(parameters.subspan(place * each, each), layers.has_biases);
      TensorList now;
      for (const TensorList& kind : states) now.push_back(kind.at(place));
      outputs.push_back(run_layer(c, layers.kind, input, weights, now, direction == 1));
      for (size_t kind = 0; kind < now.size(); ++kind) last[kind].push_back(now[kind]);
    }
    input = layers.is_two_way ? call(c, "aten::cat", outputs, rank_of(outputs[0]) - 1) : outputs[0];
  }
  if (layers.is_batch_first) input = call(c, "aten::transpose.int", input, 0, 1);
  std::vector<Value> results = {input};
  for (const TensorList& kind : last) results.emplace_back(call(c, "aten::stack", kind, 0));
  return results;
}

TensorList run_step(Context& c, RnnKind kind, const Tensor& input, TensorList states, const Tensor& w_ih,
                    const Tensor& w_hh, const Tensor* b_ih, const Tensor* b_hh) {
  const StepWeights weights{.input = &w_ih, .hidden = &w_hh, .input_bias = b_ih, .hidden_bias = b_hh};
  step(c, kind, linear(c, input, w_ih, b_ih), weights, states, 1);
  return states;
}

}  // namespace flambeau::ops
