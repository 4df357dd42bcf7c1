// A GPT-2-like decoder: causal attention, and an output that shares its weight with the embedding.
#pragma once

#include <memory>

#include "flambeau/nn.h"

namespace models {

using flambeau::Tensor;
namespace nn = flambeau::nn;

struct Gpt2Config {
  int64_t vocabulary = 96;
  int64_t context = 32;
  int64_t embedding = 32;
  int64_t heads = 4;
  int64_t layers = 2;
  double dropout = 0.1;
};

class CausalSelfAttention : public nn::Layer<CausalSelfAttention> {
 public:
  explicit CausalSelfAttention(const Gpt2Config& config)
      : c_attn(config.embedding, 3 * config.embedding),
        c_proj(config.embedding, config.embedding),
        resid_dropout(config.dropout),
        heads_(config.heads),
        embedding_(config.embedding),
        dropout_(config.dropout) {
    add_module("c_attn", c_attn);
    add_module("c_proj", c_proj);
    add_module("resid_dropout", resid_dropout);
  }

  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const auto parts = nn::split(c_attn(x), embedding_, 2);
    const Tensor q = split_heads(parts[0]);
    const Tensor k = split_heads(parts[1]);
    const Tensor v = split_heads(parts[2]);
    Tensor y =
        nn::scaled_dot_product_attention(q, k, v, {}, is_training() ? dropout_ : 0.0, /*is_causal=*/true);
    y = nn::contiguous(nn::transpose(y, 1, 2));
    y = nn::view(y, {nn::size(x, 0), nn::size(x, 1), embedding_});
    return resid_dropout(c_proj(y));
  }

  nn::Linear c_attn, c_proj;
  nn::Dropout resid_dropout;

 private:
  Tensor split_heads(const Tensor& x) const {
    return nn::transpose(nn::view(x, {nn::size(x, 0), nn::size(x, 1), heads_, embedding_ / heads_}), 1, 2);
  }
  int64_t heads_, embedding_;
  double dropout_;
};

class Mlp : public nn::Layer<Mlp> {
 public:
  explicit Mlp(const Gpt2Config& config)
      : c_fc(config.embedding, 4 * config.embedding),
        gelu("tanh"),
        c_proj(4 * config.embedding, config.embedding),
        dropout(config.dropout) {
    add_module("c_fc", c_fc);
    add_module("gelu", gelu);
    add_module("c_proj", c_proj);
    add_module("dropout", dropout);
  }

  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) { return dropout(c_proj(gelu(c_fc(x)))); }

  nn::Linear c_fc;
  nn::GELU gelu;
  nn::Linear c_proj;
  nn::Dropout dropout;
};

class Gpt2Block : public nn::Layer<Gpt2Block> {
 public:
  explicit Gpt2Block(const Gpt2Config& config)
      : ln_1(config.embedding), attn(config), ln_2(config.embedding), mlp(config) {
    add_module("ln_1", ln_1);
    add_module("attn", attn);
    add_module("ln_2", ln_2);
    add_module("mlp", mlp);
  }

  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const Tensor y = x + attn(ln_1(x));
    return y + mlp(ln_2(y));
  }

  nn::LayerNorm ln_1;
  CausalSelfAttention attn;
  nn::LayerNorm ln_2;
  Mlp mlp;
};

class Gpt2 : public nn::Layer<Gpt2> {
 public:
  explicit Gpt2(const Gpt2Config& config = {})
      : wte(config.vocabulary, config.embedding),
        wpe(config.context, config.embedding),
        drop(config.dropout) {
    add_module("wte", wte);
    add_module("wpe", wpe);
    add_module("drop", drop);
    for (int64_t i = 0; i < config.layers; ++i) h.add(config);
    add_module("h", h);
    ln_f = std::make_shared<nn::LayerNorm>(config.embedding);
    add_module("ln_f", *ln_f);
    lm_head = std::make_shared<nn::Linear>(config.embedding, config.vocabulary, /*bias=*/false);
    lm_head->weight = wte.weight;  // tied
    add_module("lm_head", *lm_head);
    for (const nn::NamedSlot& parameter : named_parameters()) {
      if (parameter.name.ends_with("c_proj.weight")) nn::init::normal_(*parameter.tensor, 0.0, 0.02);
    }
  }

  static constexpr std::array kArguments{"idx"};
  Tensor forward(const Tensor& idx) {
    const Tensor positions = nn::arange(0, nn::size(idx, 1));
    Tensor x = wte(idx);
    x = drop(x + wpe(positions));
    for (Gpt2Block& block : h) x = block(x);
    return (*lm_head)((*ln_f)(x));
  }

  nn::Embedding wte, wpe;
  nn::Dropout drop;
  nn::ModuleList<Gpt2Block> h;
  std::shared_ptr<nn::LayerNorm> ln_f;
  std::shared_ptr<nn::Linear> lm_head;
};

}  // namespace models
