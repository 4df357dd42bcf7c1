#include "flambeau/nn/layers/recurrent.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/create.h"
#include "flambeau/nn/functional/recurrent.h"
#include "flambeau/nn/functional/shape.h"
#include "flambeau/nn/init.h"

namespace flambeau::nn {
namespace {

[[noreturn]] void refuse(const Module& module, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", short_class_name(module), what));
}

void check_dim(const Module& module, const Tensor& input, int64_t batched) {
  const int64_t given = dim(input);
  if (given != batched && given != batched - 1)
    refuse(module,
           fmt::format("the input has {} dimensions, {} or {} are expected", given, batched - 1, batched));
}

std::string checked_nonlinearity(std::string name) {
  if (name == "tanh" || name == "relu") return name;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no nonlinearity of an RNN", printable(name)),
              "take tanh or relu");
}

}  // namespace

template <typename Derived>
RecurrentLayer<Derived>::RecurrentLayer(int64_t gates, int64_t input_size, int64_t hidden_size,
                                        const RecurrentOptions& options, int64_t proj_size)
    : input_size_(input_size), hidden_size_(hidden_size), proj_size_(proj_size), options_(options) {
  const bool is_valid = input_size > 0 && hidden_size > 0 && options.num_layers > 0 && proj_size >= 0 &&
                        proj_size < hidden_size && options.dropout >= 0 && options.dropout <= 1;
  if (!is_valid) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a recurrent network of {} layers from {} to {} numbers, projected to {}, with a dropout "
                    "of {}, cannot be",
                    options.num_layers, input_size, hidden_size, proj_size, options.dropout),
        "sizes and layers are positive, a projection is smaller than the hidden size, a dropout between 0 "
        "and 1");
  }
  const int64_t directions = options.bidirectional ? 2 : 1;
  const int64_t state_size = proj_size > 0 ? proj_size : hidden_size;
  const double bound = 1.0 / std::sqrt(static_cast<double>(hidden_size));
  const auto add = [&](std::string name, const Dims& sizes) {
    parameters_.push_back(std::make_unique<Tensor>(init::empty(sizes)));
    this->add_parameter(std::move(name), *parameters_.back());
    init::uniform_(*parameters_.back(), -bound, bound);
  };
  for (int64_t i = 0; i < options.num_layers; ++i) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix = fmt::format("_l{}{}", i, direction == 1 ? "_reverse" : "");
      add("weight_ih" + suffix, {gates * hidden_size, i == 0 ? input_size : state_size * directions});
      add("weight_hh" + suffix, {gates * hidden_size, state_size});
      if (options.bias) add("bias_ih" + suffix, {gates * hidden_size});
      if (options.bias) add("bias_hh" + suffix, {gates * hidden_size});
      if (proj_size > 0) add("weight_hr" + suffix, {proj_size, hidden_size});
    }
  }
}

template <typename Derived>
std::vector<Tensor> RecurrentLayer<Derived>::parameters() const {
  std::vector<Tensor> all;
  for (const auto& parameter : parameters_) all.push_back(*parameter);
  return all;
}

template <typename Derived>
typename RecurrentLayer<Derived>::Sequence RecurrentLayer<Derived>::sequence(const Tensor& input) const {
  check_dim(*this, input, 3);
  const bool is_batched = dim(input) == 3;
  const int64_t batch_dim = options_.batch_first ? 0 : 1;
  const Tensor batch = is_batched ? input : unsqueeze(input, batch_dim);
  return {batch, is_batched, size(batch, batch_dim)};
}

template <typename Derived>
Tensor RecurrentLayer<Derived>::zero_state(const Sequence& sequence, int64_t state_size) const {
  const int64_t layers = options_.num_layers * (options_.bidirectional ? 2 : 1);
  return zeros({layers, sequence.batch, state_size}, sequence.input.dtype());
}

template <typename Derived>
Tensor RecurrentLayer<Derived>::given_state(const Tensor& state, const Sequence& sequence,
                                            int64_t state_size) const {
  const int64_t layers = options_.num_layers * (options_.bidirectional ? 2 : 1);
  if (dim(state) != (sequence.is_batched ? 3 : 2))
    refuse(*this, fmt::format("a state of {} dimensions does not fit an input of {}", dim(state),
                              sequence.is_batched ? 3 : 2));
  const Tensor batch = sequence.is_batched ? state : unsqueeze(state, 1);
  const SymIntList given = sizes(batch);
  if (!(given[0] == SymInt(layers)) || !(given[1] == sequence.batch) || !(given[2] == SymInt(state_size)))
    refuse(*this, fmt::format("a state of the wrong sizes is given, [{}, batch, {}] is expected", layers,
                              state_size));
  return batch;
}

LSTM::LSTM(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options, int64_t proj_size)
    : RecurrentLayer(4, input_size, hidden_size, options, proj_size) {}

std::pair<Tensor, LSTM::State> LSTM::forward(const Tensor& input, const std::optional<State>& hx) {
  const Sequence in = sequence(input);
  const int64_t hidden = proj_size_ > 0 ? proj_size_ : hidden_size_;
  const Tensor h = hx ? given_state(hx->first, in, hidden) : zero_state(in, hidden);
  const Tensor c = hx ? given_state(hx->second, in, hidden_size_) : zero_state(in, hidden_size_);
  const auto [output, h_out, c_out] =
      lstm(in.input, {h, c}, parameters(), options_.bias, options_.num_layers, options_.dropout,
           is_training(), options_.bidirectional, options_.batch_first);
  if (in.is_batched) return {output, {h_out, c_out}};
  const Tensor single = squeeze(output, options_.batch_first ? 0 : 1);
  const Tensor h_single = squeeze(h_out, 1);
  return {single, {h_single, squeeze(c_out, 1)}};
}

GRU::GRU(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options)
    : RecurrentLayer(3, input_size, hidden_size, options) {}

std::pair<Tensor, Tensor> GRU::forward(const Tensor& input, const std::optional<Tensor>& hx) {
  const Sequence in = sequence(input);
  const Tensor h = hx ? given_state(*hx, in, hidden_size_) : zero_state(in, hidden_size_);
  const auto [output, h_out] =
      gru(in.input, h, parameters(), options_.bias, options_.num_layers, options_.dropout, is_training(),
          options_.bidirectional, options_.batch_first);
  if (in.is_batched) return {output, h_out};
  const Tensor single = squeeze(output, options_.batch_first ? 0 : 1);
  return {single, squeeze(h_out, 1)};
}

RNN::RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options, std::string nonlinearity)
    : RecurrentLayer(1, input_size, hidden_size, options),
      nonlinearity_(checked_nonlinearity(std::move(nonlinearity))) {}

std::pair<Tensor, Tensor> RNN::forward(const Tensor& input, const std::optional<Tensor>& hx) {
  const Sequence in = sequence(input);
  const Tensor h = hx ? given_state(*hx, in, hidden_size_) : zero_state(in, hidden_size_);
  const auto [output, h_out] = (nonlinearity_ == "tanh" ? rnn_tanh : rnn_relu)(
      in.input, h, parameters(), options_.bias, options_.num_layers, options_.dropout, is_training(),
      options_.bidirectional, options_.batch_first);
  if (in.is_batched) return {output, h_out};
  const Tensor single = squeeze(output, options_.batch_first ? 0 : 1);
  return {single, squeeze(h_out, 1)};
}

template <typename Derived>
RecurrentCell<Derived>::RecurrentCell(int64_t gates, int64_t input_size, int64_t hidden_size, bool bias)
    : weight_ih(init::empty({gates * hidden_size, input_size})),
      weight_hh(init::empty({gates * hidden_size, hidden_size})),
      hidden_size_(hidden_size) {
  if (bias) bias_ih = init::empty({gates * hidden_size});
  if (bias) bias_hh = init::empty({gates * hidden_size});
  this->add_parameter("weight_ih", weight_ih);
  this->add_parameter("weight_hh", weight_hh);
  this->add_parameter("bias_ih", bias_ih);
  this->add_parameter("bias_hh", bias_hh);
  const double bound = hidden_size > 0 ? 1.0 / std::sqrt(static_cast<double>(hidden_size)) : 0;
  for (const Tensor* const parameter : {&weight_ih, &weight_hh, &bias_ih, &bias_hh}) {
    if (parameter->defined()) init::uniform_(*parameter, -bound, bound);
  }
}

template <typename Derived>
template <typename Step>
Tensor RecurrentCell<Derived>::step(const Tensor& input, const std::optional<Tensor>& hx,
                                    const Step& run) const {
  check_dim(*this, input, 2);
  const bool is_batched = dim(input) == 2;
  const Tensor batch = is_batched ? input : unsqueeze(input, 0);
  Tensor state;
  if (!hx) {
    state = zeros({size(batch, 0), hidden_size_}, batch.dtype());
  } else {
    state = is_batched ? *hx : unsqueeze(*hx, 0);
  }
  const Tensor result = run(batch, state);
  return is_batched ? result : squeeze(result, 0);
}

RNNCell::RNNCell(int64_t input_size, int64_t hidden_size, bool bias, std::string nonlinearity)
    : RecurrentCell(1, input_size, hidden_size, bias),
      nonlinearity_(checked_nonlinearity(std::move(nonlinearity))) {}

Tensor RNNCell::forward(const Tensor& input, const std::optional<Tensor>& hx) {
  return step(input, hx, [&](const Tensor& x, const Tensor& h) {
    return nonlinearity_ == "tanh" ? rnn_tanh_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
                                   : rnn_relu_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh);
  });
}

GRUCell::GRUCell(int64_t input_size, int64_t hidden_size, bool bias)
    : RecurrentCell(3, input_size, hidden_size, bias) {}

Tensor GRUCell::forward(const Tensor& input, const std::optional<Tensor>& hx) {
  return step(input, hx, [&](const Tensor& x, const Tensor& h) {
    return gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh);
  });
}

LSTMCell::LSTMCell(int64_t input_size, int64_t hidden_size, bool bias)
    : RecurrentCell(4, input_size, hidden_size, bias) {}

LSTMCell::State LSTMCell::forward(const Tensor& input, const std::optional<State>& hx) {
  check_dim(*this, input, 2);
  const bool is_batched = dim(input) == 2;
  const Tensor batch = is_batched ? input : unsqueeze(input, 0);
  TensorList state;
  if (!hx) {
    const Tensor zero = zeros({size(batch, 0), hidden_size_}, batch.dtype());
    state = {zero, zero};
  } else if (is_batched) {
    state = {hx->first, hx->second};
  } else {
    state = {unsqueeze(hx->first, 0), unsqueeze(hx->second, 0)};
  }
  const auto [h, c] = lstm_cell(batch, state, weight_ih, weight_hh, bias_ih, bias_hh);
  if (is_batched) return {h, c};
  const Tensor h_single = squeeze(h, 0);
  return {h_single, squeeze(c, 0)};
}

template class RecurrentLayer<LSTM>;
template class RecurrentLayer<GRU>;
template class RecurrentLayer<RNN>;
template class RecurrentCell<RNNCell>;
template class RecurrentCell<LSTMCell>;
template class RecurrentCell<GRUCell>;

}  // namespace flambeau::nn
