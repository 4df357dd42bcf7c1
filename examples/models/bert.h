// A BERT-like encoder: embeddings, self-attention with a padding mask, a pooled output.
#pragma once

#include <cmath>
#include <optional>
#include <utility>

#include "flambeau/nn.h"

namespace models {

using flambeau::Tensor;
namespace nn = flambeau::nn;

struct BertConfig {
  int64_t vocabulary = 100;
  int64_t hidden = 32;
  int64_t heads = 4;
  int64_t layers = 2;
  int64_t intermediate = 64;
  int64_t positions = 48;
  int64_t types = 2;
  double dropout = 0.1;
  double eps = 1e-12;
};

class BertEmbeddings : public nn::Layer<BertEmbeddings> {
 public:
  explicit BertEmbeddings(const BertConfig& config)
      : word_embeddings(config.vocabulary, config.hidden, 0),
        position_embeddings(config.positions, config.hidden),
        token_type_embeddings(config.types, config.hidden),
        norm(config.hidden, {.eps = config.eps}),
        dropout(config.dropout),
        position_ids(nn::unsqueeze(nn::arange(config.positions), 0)) {
    add_module("word_embeddings", word_embeddings);
    add_module("position_embeddings", position_embeddings);
    add_module("token_type_embeddings", token_type_embeddings);
    add_module("norm", norm);
    add_module("dropout", dropout);
    add_buffer("position_ids", position_ids, /*persistent=*/false);
  }

  static constexpr std::array kArguments{"input_ids", "token_type_ids"};
  Tensor forward(const Tensor& input_ids, const Tensor& token_type_ids) {
    const Tensor positions = nn::at(position_ids, {nn::Slice(), nn::Slice({}, nn::size(input_ids, 1))});
    Tensor x = word_embeddings(input_ids);
    x = x + token_type_embeddings(token_type_ids);
    x = x + position_embeddings(positions);
    return dropout(norm(x));
  }

  nn::Embedding word_embeddings, position_embeddings, token_type_embeddings;
  nn::LayerNorm norm;
  nn::Dropout dropout;
  Tensor position_ids;
};

class BertSelfAttention : public nn::Layer<BertSelfAttention> {
 public:
  explicit BertSelfAttention(const BertConfig& config)
      : query(config.hidden, config.hidden),
        key(config.hidden, config.hidden),
        value(config.hidden, config.hidden),
        dropout(config.dropout),
        heads_(config.heads),
        head_size_(config.hidden / config.heads) {
    add_module("query", query);
    add_module("key", key);
    add_module("value", value);
    add_module("dropout", dropout);
  }

  static constexpr std::array kArguments{"x", "mask"};
  Tensor forward(const Tensor& x, const Tensor& mask) {
    const Tensor q = split_heads(query(x));
    const Tensor k = split_heads(key(x));
    const Tensor v = split_heads(value(x));
    Tensor scores = nn::matmul(q, nn::transpose(k, -1, -2));
    scores = scores / std::sqrt(static_cast<double>(head_size_));
    scores = scores + mask;
    const Tensor weights = dropout(nn::softmax(scores, -1));
    const Tensor mixed = nn::contiguous(nn::permute(nn::matmul(weights, v), {0, 2, 1, 3}));
    return nn::view(mixed, {nn::size(x, 0), nn::size(x, 1), heads_ * head_size_});
  }

  nn::Linear query, key, value;
  nn::Dropout dropout;

 private:
  Tensor split_heads(const Tensor& x) const {
    return nn::permute(nn::view(x, {nn::size(x, 0), nn::size(x, 1), heads_, head_size_}), {0, 2, 1, 3});
  }
  int64_t heads_, head_size_;
};

class BertLayer : public nn::Layer<BertLayer> {
 public:
  explicit BertLayer(const BertConfig& config)
      : attention(config),
        attention_output(config.hidden, config.hidden),
        attention_norm(config.hidden, {.eps = config.eps}),
        intermediate(config.hidden, config.intermediate),
        output(config.intermediate, config.hidden),
        output_norm(config.hidden, {.eps = config.eps}),
        dropout(config.dropout) {
    add_module("attention", attention);
    add_module("attention_output", attention_output);
    add_module("attention_norm", attention_norm);
    add_module("intermediate", intermediate);
    add_module("output", output);
    add_module("output_norm", output_norm);
    add_module("dropout", dropout);
  }

  static constexpr std::array kArguments{"x", "mask"};
  Tensor forward(const Tensor& x, const Tensor& mask) {
    Tensor y = dropout(attention_output(attention(x, mask)));
    y = attention_norm(y + x);
    Tensor z = output(nn::gelu(intermediate(y)));
    z = dropout(z);
    return output_norm(z + y);
  }

  BertSelfAttention attention;
  nn::Linear attention_output;
  nn::LayerNorm attention_norm;
  nn::Linear intermediate, output;
  nn::LayerNorm output_norm;
  nn::Dropout dropout;
};

class Bert : public nn::Layer<Bert> {
 public:
  explicit Bert(const BertConfig& config = {}) : embeddings(config) {
    add_module("embeddings", embeddings);
    for (int64_t i = 0; i < config.layers; ++i) layers.add(config);
    add_module("layers", layers);
    pooler = std::make_shared<nn::Linear>(config.hidden, config.hidden);
    add_module("pooler", *pooler);
  }

  static constexpr std::array kArguments{"input_ids", "attention_mask", "token_type_ids"};
  // Every vector, and the pooled one of each sequence.
  std::pair<Tensor, Tensor> forward(const Tensor& input_ids, const std::optional<Tensor>& attention_mask = {},
                                    const std::optional<Tensor>& token_type_ids = {}) {
    const Tensor mask = attention_mask ? *attention_mask : nn::ones_like(input_ids);
    const Tensor types = token_type_ids ? *token_type_ids : nn::zeros_like(input_ids);
    Tensor extended = nn::unsqueeze(nn::unsqueeze(mask, 1), 2);
    extended = nn::to(extended, flambeau::DType::kFloat32);
    extended = (1.0 - extended) * -10000.0;
    Tensor x = embeddings(input_ids, types);
    for (BertLayer& layer : layers) x = layer(x, extended);
    const Tensor pooled = nn::tanh((*pooler)(nn::at(x, {nn::Slice(), 0})));
    return {x, pooled};
  }

  BertEmbeddings embeddings;
  nn::ModuleList<BertLayer> layers;
  std::shared_ptr<nn::Linear> pooler;
};

}  // namespace models
