// Recurrent layers, step by step.
#include <algorithm>

#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

Tensor linear(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return call(c, "aten::linear", input, weight, bias.defined() ? Value(bias) : Value());
}
Tensor sigmoid(Context& c, const Tensor& a) { return call(c, "aten::sigmoid", a); }
Tensor tanh(Context& c, const Tensor& a) { return call(c, "aten::tanh", a); }
TensorList chunk(Context& c, const Tensor& a, int64_t count, int64_t dim) {
  return call<TensorList>(c, "aten::chunk", a, count, dim);
}

// The weights of one layer in one direction.
struct Weights {
  Tensor input;
  Tensor hidden;
  Tensor input_bias = {};  // undefined where there are none
  Tensor hidden_bias = {};
  Tensor projection = {};
};

// One step: what came in, already multiplied with its weights, and the states, which it replaces.
using Cell = void (*)(Context& c, const Tensor& input, const Weights& weights, TensorList& states,
                      int64_t dim);

void lstm_cell(Context& c, const Tensor& input, const Weights& weights, TensorList& states, int64_t dim) {
  const TensorList gates =
      chunk(c, add(c, linear(c, states[0], weights.hidden, weights.hidden_bias), input), 4, dim);
  const Tensor in = sigmoid(c, gates[0]);
  const Tensor forget = sigmoid(c, gates[1]);
  const Tensor cell = tanh(c, gates[2]);
  const Tensor out = sigmoid(c, gates[3]);
  states[1] = add(c, mul(c, forget, states[1]), mul(c, in, cell));
  states[0] = mul(c, out, tanh(c, states[1]));
  if (weights.projection.defined()) states[0] = linear(c, states[0], weights.projection, {});
}

void gru_cell(Context& c, const Tensor& input, const Weights& weights, TensorList& states, int64_t dim) {
  const TensorList in = chunk(c, input, 3, 1);
  const TensorList hidden = chunk(c, linear(c, states[0], weights.hidden, weights.hidden_bias), 3, dim);
  const Tensor reset = sigmoid(c, add(c, hidden[0], in[0]));
  const Tensor update = sigmoid(c, add(c, hidden[1], in[1]));
  const Tensor fresh = tanh(c, add(c, in[2], mul(c, hidden[2], reset)));
  states[0] = add(c, mul(c, sub(c, states[0], fresh), update), fresh);
}

template <bool kRelu>
void rnn_cell(Context& c, const Tensor& input, const Weights& weights, TensorList& states, int64_t) {
  const Tensor sum = add(c, linear(c, states[0], weights.hidden, weights.hidden_bias), input);
  states[0] = call(c, kRelu ? "aten::relu" : "aten::tanh", sum);
}

// Gives the outputs of all steps; the states become those of the last one.
Tensor run_layer(Context& c, const Tensor& input, const Weights& weights, TensorList& states, Cell cell,
                 bool is_backward) {
  for (Tensor& state : states) state = call(c, "aten::unsqueeze", state, 0);
  Tensor steps = linear(c, input, weights.input, weights.input_bias);
  if (is_backward) steps = call(c, "aten::flip", steps, Dims{0});
  TensorList outputs;
  for (const Tensor& step : call<TensorList>(c, "aten::unbind.int", steps, 0)) {
    cell(c, step, weights, states, 2);
    outputs.push_back(states[0]);
  }
  if (is_backward) std::ranges::reverse(outputs);
  Tensor output = parts::cat(c, outputs, 0);
  for (Tensor& state : states) state = call(c, "aten::squeeze.dim", state, 0);
  return output;
}

struct Layers {
  bool has_biases;
  int64_t count;
  bool is_two_way;
  bool is_batch_first;
};

// States by kind, then by layer and direction. The dropout between layers is left out, as PyTorch leaves it.
std::vector<Value> run_layers(Context& c, Tensor input, const std::vector<TensorList>& states,
                              const TensorList& parameters, const Layers& layers, Cell cell) {
  const size_t directions = layers.is_two_way ? 2 : 1;
  const size_t each = parameters.size() / (directions * static_cast<size_t>(layers.count));
  if (layers.is_batch_first) input = call(c, "aten::transpose.int", input, 0, 1);
  std::vector<TensorList> last(states.size());
  for (size_t layer = 0; layer < static_cast<size_t>(layers.count); ++layer) {
    TensorList outputs;
    for (size_t direction = 0; direction < directions; ++direction) {
      const size_t place = layer * directions + direction;
      const Tensor* const own = parameters.data() + place * each;
      Weights weights{.input = own[0], .hidden = own[1]};
      if (layers.has_biases) {
        weights.input_bias = own[2];
        weights.hidden_bias = own[3];
      }
      if (each == 5) weights.projection = own[4];
      if (each == 3) weights.projection = own[2];
      TensorList now;
      for (const TensorList& kind : states) now.push_back(kind.at(place));
      outputs.push_back(run_layer(c, input, weights, now, cell, direction == 1));
      for (size_t kind = 0; kind < now.size(); ++kind) last[kind].push_back(now[kind]);
    }
    input = layers.is_two_way ? parts::cat(c, outputs, rank_of(outputs[0]) - 1) : outputs[0];
  }
  if (layers.is_batch_first) input = call(c, "aten::transpose.int", input, 0, 1);
  std::vector<Value> results = {input};
  for (const TensorList& kind : last) results.emplace_back(call(c, "aten::stack", kind, 0));
  return results;
}

Layers layers_of(const Arguments& given) {
  return {given.flag(3), given.integer(4), given.flag(7), given.flag(8)};
}

Decomposition one_state(Cell cell) {
  return [cell](Context& c, const Arguments& given) {
    const TensorList states = call<TensorList>(c, "aten::unbind.int", given.tensor(1), 0);
    return run_layers(c, given.tensor(0), {states}, given.tensors(2), layers_of(given), cell);
  };
}

// Cells alone, which get biases that may be absent.
Tensor optional_tensor(const Arguments& given, size_t index) {
  return given.has(index) ? given.tensor(index) : Tensor();
}
Weights weights_of(const Arguments& given, size_t first) {
  return {.input = given.tensor(first),
          .hidden = given.tensor(first + 1),
          .input_bias = optional_tensor(given, first + 2),
          .hidden_bias = optional_tensor(given, first + 3),
          .projection = {}};
}

}  // namespace

void add_recurrent(DecompositionTable& table) {
  table.composite("aten::lstm.input", [](Context& c, const Arguments& given) {
    std::vector<TensorList> states;
    for (const Tensor& state : given.tensors(1))
      states.push_back(call<TensorList>(c, "aten::unbind.int", state, 0));
    return run_layers(c, given.tensor(0), states, given.tensors(2), layers_of(given), lstm_cell);
  });
  table.composite("aten::gru.input", one_state(gru_cell));
  table.composite("aten::rnn_tanh.input", one_state(rnn_cell<false>));
  table.composite("aten::rnn_relu.input", one_state(rnn_cell<true>));
  table.composite("aten::lstm_cell", [](Context& c, const Arguments& given) {
    TensorList states = given.tensors(1);
    const Weights weights = weights_of(given, 2);
    lstm_cell(c, linear(c, given.tensor(0), weights.input, weights.input_bias), weights, states, 1);
    return gives(states[0], states[1]);
  });
  const auto cell_alone = [](Cell cell) {
    return [cell](Context& c, const Arguments& given) {
      TensorList states = {given.tensor(1)};
      const Weights weights = weights_of(given, 2);
      cell(c, linear(c, given.tensor(0), weights.input, weights.input_bias), weights, states, 1);
      return gives(states[0]);
    };
  };
  table.composite("aten::gru_cell", cell_alone(gru_cell));
  table.composite("aten::rnn_tanh_cell", cell_alone(rnn_cell<false>));
  table.composite("aten::rnn_relu_cell", cell_alone(rnn_cell<true>));
}

}  // namespace flambeau::trace
