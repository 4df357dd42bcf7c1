// A small Llama: rotary positions, grouped queries, a gated feed-forward, root-mean-square norms.
#pragma once

#include <cmath>
#include <memory>

#include "flambeau/nn.h"

namespace models {

using flambeau::Tensor;
namespace nn = flambeau::nn;

struct LlamaConfig {
  int64_t vocabulary = 128;
  int64_t hidden = 32;
  int64_t intermediate = 64;
  int64_t layers = 2;
  int64_t heads = 4;
  int64_t key_value_heads = 2;
  int64_t positions = 64;
  double eps = 1e-5;
  double theta = 10000.0;

  int64_t head_size() const { return hidden / heads; }
};

class LlamaRMSNorm : public nn::Layer<LlamaRMSNorm> {
 public:
  LlamaRMSNorm(int64_t size, double eps) : weight(nn::init::ones({size})), eps_(eps) {
    add_parameter("weight", weight);
  }

  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const Tensor variance = nn::mean(nn::pow(x, 2), -1, /*keepdim=*/true);
    const Tensor normed = x * nn::rsqrt(variance + eps_);
    return weight * normed;
  }

  Tensor weight;

 private:
  double eps_;
};

inline Tensor rotate_half(const Tensor& x, int64_t half) {
  const Tensor first = nn::at(x, {nn::Ellipsis, nn::Slice({}, half)});
  const Tensor second = nn::at(x, {nn::Ellipsis, nn::Slice(half)});
  return nn::cat({-second, first}, -1);
}

inline Tensor rotate(const Tensor& x, const Tensor& cos, const Tensor& sin, int64_t half) {
  const Tensor straight = x * cos;
  return straight + rotate_half(x, half) * sin;
}

class LlamaAttention : public nn::Layer<LlamaAttention> {
 public:
  explicit LlamaAttention(const LlamaConfig& config)
      : q_proj(config.hidden, config.heads * config.head_size(), false),
        k_proj(config.hidden, config.key_value_heads * config.head_size(), false),
        v_proj(config.hidden, config.key_value_heads * config.head_size(), false),
        o_proj(config.heads * config.head_size(), config.hidden, false),
        config_(config) {
    add_module("q_proj", q_proj);
    add_module("k_proj", k_proj);
    add_module("v_proj", v_proj);
    add_module("o_proj", o_proj);
  }

  static constexpr std::array kArguments{"x", "cos", "sin"};
  Tensor forward(const Tensor& x, const Tensor& cos, const Tensor& sin) {
    const int64_t half = config_.head_size() / 2;
    const int64_t groups = config_.heads / config_.key_value_heads;
    Tensor q = split_heads(q_proj(x), config_.heads);
    Tensor k = split_heads(k_proj(x), config_.key_value_heads);
    Tensor v = split_heads(v_proj(x), config_.key_value_heads);
    q = rotate(q, cos, sin, half);
    k = rotate(k, cos, sin, half);
    k = nn::repeat_interleave(k, groups, 1);
    v = nn::repeat_interleave(v, groups, 1);
    Tensor y = nn::scaled_dot_product_attention(q, k, v, {}, 0.0, /*is_causal=*/true);
    y = nn::reshape(nn::transpose(y, 1, 2), {nn::size(x, 0), nn::size(x, 1), config_.hidden});
    return o_proj(y);
  }

  nn::Linear q_proj, k_proj, v_proj, o_proj;

 private:
  Tensor split_heads(const Tensor& x, int64_t heads) const {
    return nn::transpose(nn::view(x, {nn::size(x, 0), nn::size(x, 1), heads, config_.head_size()}), 1, 2);
  }
  LlamaConfig config_;
};

class LlamaMLP : public nn::Layer<LlamaMLP> {
 public:
  explicit LlamaMLP(const LlamaConfig& config)
      : gate_proj(config.hidden, config.intermediate, false),
        up_proj(config.hidden, config.intermediate, false),
        down_proj(config.intermediate, config.hidden, false) {
    add_module("gate_proj", gate_proj);
    add_module("up_proj", up_proj);
    add_module("down_proj", down_proj);
  }

  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const Tensor gate = nn::silu(gate_proj(x));
    return down_proj(gate * up_proj(x));
  }

  nn::Linear gate_proj, up_proj, down_proj;
};

class LlamaBlock : public nn::Layer<LlamaBlock> {
 public:
  explicit LlamaBlock(const LlamaConfig& config)
      : self_attn(config),
        mlp(config),
        input_layernorm(config.hidden, config.eps),
        post_attention_layernorm(config.hidden, config.eps) {
    add_module("self_attn", self_attn);
    add_module("mlp", mlp);
    add_module("input_layernorm", input_layernorm);
    add_module("post_attention_layernorm", post_attention_layernorm);
  }

  static constexpr std::array kArguments{"x", "cos", "sin"};
  Tensor forward(const Tensor& x, const Tensor& cos, const Tensor& sin) {
    const Tensor y = x + self_attn(input_layernorm(x), cos, sin);
    return y + mlp(post_attention_layernorm(y));
  }

  LlamaAttention self_attn;
  LlamaMLP mlp;
  LlamaRMSNorm input_layernorm, post_attention_layernorm;
};

class Llama : public nn::Layer<Llama> {
 public:
  explicit Llama(const LlamaConfig& config = {}) : embed_tokens(config.vocabulary, config.hidden) {
    add_module("embed_tokens", embed_tokens);
    for (int64_t i = 0; i < config.layers; ++i) layers.add(config);
    add_module("layers", layers);
    norm = std::make_shared<LlamaRMSNorm>(config.hidden, config.eps);
    add_module("norm", *norm);
    lm_head = std::make_shared<nn::Linear>(config.hidden, config.vocabulary, false);
    add_module("lm_head", *lm_head);
    const Tensor exponents = nn::arange(0, config.head_size(), 2, flambeau::DType::kFloat32) /
                             static_cast<double>(config.head_size());
    const Tensor frequencies = 1.0 / nn::pow(config.theta, exponents);
    const Tensor positions = nn::arange(config.positions, flambeau::DType::kFloat32);
    const Tensor angles = nn::outer(positions, frequencies);
    const Tensor both = nn::cat({angles, angles}, -1);
    rope_cos = nn::cos(both);
    rope_sin = nn::sin(both);
    add_buffer("rope_cos", rope_cos);
    add_buffer("rope_sin", rope_sin);
  }

  static constexpr std::array kArguments{"tokens"};
  Tensor forward(const Tensor& tokens) {
    const auto length = nn::size(tokens, 1);
    Tensor x = embed_tokens(tokens);
    const Tensor cos = nn::at(rope_cos, {nn::Slice({}, length)});
    const Tensor sin = nn::at(rope_sin, {nn::Slice({}, length)});
    for (LlamaBlock& layer : layers) x = layer(x, cos, sin);
    return (*lm_head)((*norm)(x));
  }

  nn::Embedding embed_tokens;
  nn::ModuleList<LlamaBlock> layers;
  std::shared_ptr<LlamaRMSNorm> norm;
  std::shared_ptr<nn::Linear> lm_head;
  Tensor rope_cos, rope_sin;
};

}  // namespace models
