// Multi-head attention: torch.nn.modules.activation.MultiheadAttention.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "flambeau/nn/layer.h"
#include "flambeau/nn/layers/linear.h"

namespace flambeau::nn {

// A Linear that PyTorch's quantization leaves alone; here only its name differs.
class NonDynamicallyQuantizableLinear : public Linear {
 public:
  using Linear::Linear;
  std::string class_name() const override {
    return "torch.nn.modules.linear.NonDynamicallyQuantizableLinear";
  }
};

struct MultiheadAttentionOptions {
  double dropout = 0.0;
  bool bias = true;
  bool add_bias_kv = false;
  bool add_zero_attn = false;
  std::optional<int64_t> kdim = {};  // nothing: as large as the embedding
  std::optional<int64_t> vdim = {};
  bool batch_first = false;
};

class MultiheadAttention : public Layer<MultiheadAttention> {
 public:
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, const MultiheadAttentionOptions& options = {});

  static constexpr std::array kArguments{
      "query",    "key", "value", "key_padding_mask", "need_weights", "attn_mask", "average_attn_weights",
      "is_causal"};
  // The output, and the weights when they are needed, which is the default. `is_causal` only says that
  // `attn_mask` is the causal one.
  std::pair<Tensor, std::optional<Tensor>> forward(const Tensor& query, const Tensor& key,
                                                   const Tensor& value,
                                                   const std::optional<Tensor>& key_padding_mask = {},
                                                   std::optional<bool> need_weights = {},
                                                   const std::optional<Tensor>& attn_mask = {},
                                                   std::optional<bool> average_attn_weights = {},
                                                   std::optional<bool> is_causal = {});
  std::string class_name() const override { return "torch.nn.modules.activation.MultiheadAttention"; }

  bool batch_first() const { return options_.batch_first; }

  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  // where keys or values have a size of their own
  Tensor in_proj_weight;                               // else
  Tensor in_proj_bias;
  Tensor bias_k, bias_v;
  NonDynamicallyQuantizableLinear out_proj;

 private:
  struct Projected {
    Tensor q, k, v;
  };
  Projected project(const Tensor& query, const Tensor& key, const Tensor& value) const;
  std::pair<Tensor, std::optional<Tensor>> attend(Tensor query, Tensor key, Tensor value, Tensor padding,
                                                  Tensor mask, bool need_weights, bool average_weights,
                                                  bool is_causal) const;
  bool would_be_fast(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& padding,
                     const Tensor& mask) const;

  int64_t embed_dim_, num_heads_;
  MultiheadAttentionOptions options_;
};

// A mask as attention adds it: zero, and minus infinity where a bool mask is true. Undefined stays undefined.
Tensor additive_mask(const Tensor& mask, DType dtype);

}  // namespace flambeau::nn
