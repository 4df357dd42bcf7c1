// Recurrent networks and their cells: torch.nn.modules.rnn. Sequences are [L, N, F], [N, L, F] when
// batch_first, or [L, F].
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/nn/layer.h"

namespace flambeau::nn {

struct RecurrentOptions {
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0.0;  // between layers
  bool bidirectional = false;
};

// The parameters of all layers and directions, and what their forward functions share.
template <typename Derived>
class RecurrentLayer : public Layer<Derived> {
 public:
  // weight_ih, weight_hh, bias_ih, bias_hh, weight_hr of layer 0, its reverse, layer 1, ...: those there are.
  std::vector<Tensor> parameters() const;

 protected:
  RecurrentLayer(int64_t gates, int64_t input_size, int64_t hidden_size, const RecurrentOptions& options,
                 int64_t proj_size = 0);

  // What the operator is called with.
  struct Sequence {
    Tensor input;  // with a batch
    bool is_batched;
    SymInt batch;
  };
  Sequence sequence(const Tensor& input) const;
  Tensor zero_state(const Sequence& sequence, int64_t size) const;
  // Throws Error(kInvalidArgument) unless the state fits the sequence.
  Tensor given_state(const Tensor& state, const Sequence& sequence, int64_t size) const;

  int64_t input_size_, hidden_size_, proj_size_;
  RecurrentOptions options_;

 private:
  std::vector<std::unique_ptr<Tensor>> parameters_;  // each stays where it was registered
};

class LSTM : public RecurrentLayer<LSTM> {
 public:
  LSTM(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {}, int64_t proj_size = 0);
  using State = std::pair<Tensor, Tensor>;  // hidden, cell
  static constexpr std::array kArguments{"input", "hx"};
  std::pair<Tensor, State> forward(const Tensor& input, const std::optional<State>& hx = {});
  std::string class_name() const override { return "torch.nn.modules.rnn.LSTM"; }
};

class GRU : public RecurrentLayer<GRU> {
 public:
  GRU(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {});
  static constexpr std::array kArguments{"input", "hx"};
  std::pair<Tensor, Tensor> forward(const Tensor& input, const std::optional<Tensor>& hx = {});
  std::string class_name() const override { return "torch.nn.modules.rnn.GRU"; }
};

class RNN : public RecurrentLayer<RNN> {
 public:
  // `nonlinearity`: "tanh" or "relu".
  RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {},
      std::string nonlinearity = "tanh");
  static constexpr std::array kArguments{"input", "hx"};
  std::pair<Tensor, Tensor> forward(const Tensor& input, const std::optional<Tensor>& hx = {});
  std::string class_name() const override { return "torch.nn.modules.rnn.RNN"; }

 private:
  std::string nonlinearity_;
};

// One step: [N, F] or [F].
template <typename Derived>
class RecurrentCell : public Layer<Derived> {
 public:
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  RecurrentCell(int64_t gates, int64_t input_size, int64_t hidden_size, bool bias);
  // One tensor in and out, with a batch where there is none.
  template <typename Step>
  Tensor step(const Tensor& input, const std::optional<Tensor>& hx, const Step& run) const;

  int64_t hidden_size_;
};

class RNNCell : public RecurrentCell<RNNCell> {
 public:
  RNNCell(int64_t input_size, int64_t hidden_size, bool bias = true, std::string nonlinearity = "tanh");
  static constexpr std::array kArguments{"input", "hx"};
  Tensor forward(const Tensor& input, const std::optional<Tensor>& hx = {});
  std::string class_name() const override { return "torch.nn.modules.rnn.RNNCell"; }

 private:
  std::string nonlinearity_;
};

class LSTMCell : public RecurrentCell<LSTMCell> {
 public:
  LSTMCell(int64_t input_size, int64_t hidden_size, bool bias = true);
  using State = std::pair<Tensor, Tensor>;
  static constexpr std::array kArguments{"input", "hx"};
  State forward(const Tensor& input, const std::optional<State>& hx = {});
  std::string class_name() const override { return "torch.nn.modules.rnn.LSTMCell"; }
};

class GRUCell : public RecurrentCell<GRUCell> {
 public:
  GRUCell(int64_t input_size, int64_t hidden_size, bool bias = true);
  static constexpr std::array kArguments{"input", "hx"};
  Tensor forward(const Tensor& input, const std::optional<Tensor>& hx = {});
  std::string class_name() const override { return "torch.nn.modules.rnn.GRUCell"; }
};

}  // namespace flambeau::nn
