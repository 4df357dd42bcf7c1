// Recurrent networks, whole and step by step.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

// With the parameters of all layers and directions in one list, as PyTorch has them.
std::tuple<Tensor, Tensor, Tensor> lstm(Input x, const TensorList& hx, const TensorList& params,
                                        bool has_biases, int64_t num_layers, double dropout, bool training,
                                        bool bidirectional, bool batch_first);
std::pair<Tensor, Tensor> gru(Input x, const Tensor& hx, const TensorList& params, bool has_biases,
                              int64_t num_layers, double dropout, bool training, bool bidirectional,
                              bool batch_first);
std::pair<Tensor, Tensor> rnn_tanh(Input x, const Tensor& hx, const TensorList& params, bool has_biases,
                                   int64_t num_layers, double dropout, bool training, bool bidirectional,
                                   bool batch_first);
std::pair<Tensor, Tensor> rnn_relu(Input x, const Tensor& hx, const TensorList& params, bool has_biases,
                                   int64_t num_layers, double dropout, bool training, bool bidirectional,
                                   bool batch_first);
std::pair<Tensor, Tensor> lstm_cell(Input x, const TensorList& hx, const Tensor& w_ih, const Tensor& w_hh,
                                    const Tensor& b_ih = {}, const Tensor& b_hh = {});
Tensor gru_cell(Input x, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {},
                const Tensor& b_hh = {});
Tensor rnn_tanh_cell(Input x, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih = {}, const Tensor& b_hh = {});
Tensor rnn_relu_cell(Input x, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih = {}, const Tensor& b_hh = {});

}  // namespace flambeau::nn
