#include "flambeau/kernels/onednn/recurrent.h"

#include <algorithm>
#include <array>

#include "flambeau/kernels/onednn/internal.h"

namespace flambeau::kernels::onednn {
namespace {

// PyTorch's gate for each of oneDNN's: an LSTM has the same order, a GRU's update gate comes first here and
// second there.
std::vector<int64_t> gates_of(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::kLstm:
      return {0, 1, 2, 3};
    case RecurrentKind::kGru:
      return {1, 0, 2};
    default:
      return {0};
  }
}

std::vector<float> in_order(const std::vector<int64_t>& gates, const float* from, int64_t gate_size) {
  std::vector<float> result;
  for (const int64_t gate : gates)
    result.insert(result.end(), from + gate * gate_size, from + (gate + 1) * gate_size);
  return result;
}

// One bias for each gate, the sum of the two; a GRU keeps the hidden part of its new gate apart, as a fourth.
std::vector<float> merged_bias(RecurrentKind kind, const std::vector<int64_t>& gates, int64_t hidden,
                               const float* input_bias, const float* hidden_bias) {
  const auto count = static_cast<int64_t>(gates.size());
  const bool apart = kind == RecurrentKind::kGru;
  std::vector<float> result(static_cast<size_t>((count + (apart ? 1 : 0)) * hidden), 0.0F);
  for (int64_t g = 0; g < count; ++g) {
    const bool keep = apart && g == count - 1;
    for (int64_t i = 0; i < hidden; ++i) {
      const int64_t from = gates[static_cast<size_t>(g)] * hidden + i;
      const auto to = static_cast<size_t>(g * hidden + i);
      if (input_bias != nullptr) result[to] += input_bias[from];
      if (hidden_bias != nullptr) result[to + static_cast<size_t>(keep ? hidden : 0)] += hidden_bias[from];
    }
  }
  return result;
}

// What all kinds have in common; oneDNN's names for sizes are layers, directions, inputs, gates, outputs.
struct Descs {
  dnnl::memory::desc source, state, input_weights, hidden_weights, bias, result;

  Descs(const RecurrentShape& s, int64_t gates, int64_t bias_gates) {
    using Tag = dnnl::memory::format_tag;
    constexpr auto kFloat = dnnl::memory::data_type::f32;
    source = {{s.time, s.batch, s.inputs}, kFloat, Tag::tnc};
    state = {{1, 1, s.batch, s.hidden}, kFloat, Tag::ldnc};
    input_weights = {{1, 1, s.inputs, gates, s.hidden}, kFloat, Tag::any};
    hidden_weights = {{1, 1, s.hidden, gates, s.hidden}, kFloat, Tag::any};
    bias = {{1, 1, bias_gates, s.hidden}, kFloat, Tag::ldgo};
    result = {{s.time, s.batch, s.hidden}, kFloat, Tag::tnc};
  }
};

}  // namespace

RecurrentLayer::RecurrentLayer(const RecurrentShape& shape, const float* input_weights,
                               const float* hidden_weights, const float* input_bias, const float* hidden_bias)
    : has_cell_(shape.kind == RecurrentKind::kLstm) {
  translate("a recurrent layer", [&] {
    const std::vector<int64_t> gates = gates_of(shape.kind);
    const auto count = static_cast<int64_t>(gates.size());
    const std::vector<float> bias = merged_bias(shape.kind, gates, shape.hidden, input_bias, hidden_bias);
    const Descs d(shape, count, static_cast<int64_t>(bias.size()) / shape.hidden);
    constexpr auto kInference = dnnl::prop_kind::forward_inference;
    const auto direction = shape.reverse ? dnnl::rnn_direction::unidirectional_right2left
                                         : dnnl::rnn_direction::unidirectional_left2right;
    const auto finish = [&](const auto& desc) {
      prepared_->add_array(DNNL_ARG_SRC_LAYER, d.source);
      prepared_->add_array(DNNL_ARG_SRC_ITER, d.state);
      if (has_cell_) prepared_->add_array(DNNL_ARG_SRC_ITER_C, d.state);
      prepared_->add_array(DNNL_ARG_DST_LAYER, d.result);
      prepared_->add_array(DNNL_ARG_DST_ITER, d.state);
      if (has_cell_) prepared_->add_array(DNNL_ARG_DST_ITER_C, d.state);
      const auto pack = [&](int argument, const float* from, int64_t inputs,
                            const dnnl::memory::desc& packed) {
        const std::vector<float> ordered = in_order(gates, from, shape.hidden * inputs);
        const dnnl::memory::desc plain({1, 1, inputs, count, shape.hidden}, dnnl::memory::data_type::f32,
                                       dnnl::memory::format_tag::ldgoi);
        prepared_->add_constant(argument, packed,
                                reordered(ordered.data(), layout_of(plain), layout_of(packed)));
      };
      pack(DNNL_ARG_WEIGHTS_LAYER, input_weights, shape.inputs, desc.weights_layer_desc());
      pack(DNNL_ARG_WEIGHTS_ITER, hidden_weights, shape.hidden, desc.weights_iter_desc());
      prepared_->add_constant(DNNL_ARG_BIAS, d.bias, copied(bias.data(), bias.size()));
    };
    const dnnl::primitive_attr attr = attributes({});
    if (shape.kind == RecurrentKind::kLstm) {
      const dnnl::lstm_forward::desc wanted(kInference, direction, d.source, d.state, d.state,
                                            d.input_weights, d.hidden_weights, d.bias, d.result, d.state,
                                            d.state);
      const dnnl::lstm_forward::primitive_desc desc(wanted, attr, engine());
      prepared_ = prepare<dnnl::lstm_forward>(desc);
      finish(desc);
    } else if (shape.kind == RecurrentKind::kGru) {
      const dnnl::lbr_gru_forward::desc wanted(kInference, direction, d.source, d.state, d.input_weights,
                                               d.hidden_weights, d.bias, d.result, d.state);
      const dnnl::lbr_gru_forward::primitive_desc desc(wanted, attr, engine());
      prepared_ = prepare<dnnl::lbr_gru_forward>(desc);
      finish(desc);
    } else {
      const auto activation =
          shape.kind == RecurrentKind::kTanh ? dnnl::algorithm::eltwise_tanh : dnnl::algorithm::eltwise_relu;
      const dnnl::vanilla_rnn_forward::desc wanted(kInference, activation, direction, d.source, d.state,
                                                   d.input_weights, d.hidden_weights, d.bias, d.result,
                                                   d.state);
      const dnnl::vanilla_rnn_forward::primitive_desc desc(wanted, attr, engine());
      prepared_ = prepare<dnnl::vanilla_rnn_forward>(desc);
      finish(desc);
    }
  });
}

void RecurrentLayer::run(const float* source, const float* hidden, const float* cell, float* result,
                         float* last_hidden, float* last_cell, void* scratch) const {
  if (has_cell_) {
    execute(std::array<const void*, 6>{source, hidden, cell, result, last_hidden, last_cell}, {}, scratch);
  } else {
    execute(std::array<const void*, 4>{source, hidden, result, last_hidden}, {}, scratch);
  }
}

}  // namespace flambeau::kernels::onednn
