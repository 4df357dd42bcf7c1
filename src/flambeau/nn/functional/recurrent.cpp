#include "flambeau/nn/functional/recurrent.h"

namespace flambeau::nn {

std::tuple<Tensor, Tensor, Tensor> lstm(Input x, const TensorList& hx, const TensorList& params,
                                        bool has_biases, int64_t num_layers, double dropout, bool training,
                                        bool bidirectional, bool batch_first) {
  return call<std::tuple<Tensor, Tensor, Tensor>>(
      x, "aten::lstm.input",
      {x.tensor, hx, params, has_biases, num_layers, dropout, training, bidirectional, batch_first});
}
std::pair<Tensor, Tensor> gru(Input x, const Tensor& hx, const TensorList& params, bool has_biases,
                              int64_t num_layers, double dropout, bool training, bool bidirectional,
                              bool batch_first) {
  return call<std::pair<Tensor, Tensor>>(
      x, "aten::gru.input",
      {x.tensor, hx, params, has_biases, num_layers, dropout, training, bidirectional, batch_first});
}
std::pair<Tensor, Tensor> rnn_tanh(Input x, const Tensor& hx, const TensorList& params, bool has_biases,
                                   int64_t num_layers, double dropout, bool training, bool bidirectional,
                                   bool batch_first) {
  return call<std::pair<Tensor, Tensor>>(
      x, "aten::rnn_tanh.input",
      {x.tensor, hx, params, has_biases, num_layers, dropout, training, bidirectional, batch_first});
}
std::pair<Tensor, Tensor> rnn_relu(Input x, const Tensor& hx, const TensorList& params, bool has_biases,
                                   int64_t num_layers, double dropout, bool training, bool bidirectional,
                                   bool batch_first) {
  return call<std::pair<Tensor, Tensor>>(
      x, "aten::rnn_relu.input",
      {x.tensor, hx, params, has_biases, num_layers, dropout, training, bidirectional, batch_first});
}
std::pair<Tensor, Tensor> lstm_cell(Input x, const TensorList& hx, const Tensor& w_ih, const Tensor& w_hh,
                                    const Tensor& b_ih, const Tensor& b_hh) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::lstm_cell", {x.tensor, hx, w_ih, w_hh, b_ih, b_hh});
}
Tensor gru_cell(Input x, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                const Tensor& b_hh) {
  return call(x, "aten::gru_cell", {x.tensor, hx, w_ih, w_hh, b_ih, b_hh});
}
Tensor rnn_tanh_cell(Input x, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                     const Tensor& b_hh) {
  return call(x, "aten::rnn_tanh_cell", {x.tensor, hx, w_ih, w_hh, b_ih, b_hh});
}
Tensor rnn_relu_cell(Input x, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                     const Tensor& b_hh) {
  return call(x, "aten::rnn_relu_cell", {x.tensor, hx, w_ih, w_hh, b_ih, b_hh});
}

}  // namespace flambeau::nn
