// Transformers: torch.nn.modules.transformer.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "flambeau/nn/layers/attention.h"
#include "flambeau/nn/layers/containers.h"
#include "flambeau/nn/layers/dropout.h"
#include "flambeau/nn/layers/linear.h"
#include "flambeau/nn/layers/norm.h"

namespace flambeau::nn {

struct TransformerLayerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  std::string activation = "relu";  // or "gelu"
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;
};

class TransformerEncoderLayer : public Layer<TransformerEncoderLayer> {
 public:
  TransformerEncoderLayer(int64_t d_model, int64_t nhead, const TransformerLayerOptions& options = {});
  // Another one with the same values; draws no random numbers.
  std::shared_ptr<TransformerEncoderLayer> clone() const;

  static constexpr std::array kArguments{"src", "src_mask", "src_key_padding_mask", "is_causal"};
  Tensor forward(const Tensor& src, const std::optional<Tensor>& src_mask = {},
                 const std::optional<Tensor>& src_key_padding_mask = {}, std::optional<bool> is_causal = {});
  std::string class_name() const override { return "torch.nn.modules.transformer.TransformerEncoderLayer"; }

  MultiheadAttention self_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;

 private:
  Tensor attend(const Tensor& x, const Tensor& mask, const Tensor& padding, bool is_causal);
  Tensor feed(const Tensor& x);

  int64_t d_model_, nhead_;
  TransformerLayerOptions options_;
};

class TransformerDecoderLayer : public Layer<TransformerDecoderLayer> {
 public:
  TransformerDecoderLayer(int64_t d_model, int64_t nhead, const TransformerLayerOptions& options = {});
  std::shared_ptr<TransformerDecoderLayer> clone() const;

  static constexpr std::array kArguments{"tgt",
                                         "memory",
                                         "tgt_mask",
                                         "memory_mask",
                                         "tgt_key_padding_mask",
                                         "memory_key_padding_mask",
                                         "tgt_is_causal",
                                         "memory_is_causal"};
  Tensor forward(const Tensor& tgt, const Tensor& memory, const std::optional<Tensor>& tgt_mask = {},
                 const std::optional<Tensor>& memory_mask = {},
                 const std::optional<Tensor>& tgt_key_padding_mask = {},
                 const std::optional<Tensor>& memory_key_padding_mask = {},
                 std::optional<bool> tgt_is_causal = {}, std::optional<bool> memory_is_causal = {});
  std::string class_name() const override { return "torch.nn.modules.transformer.TransformerDecoderLayer"; }

  MultiheadAttention self_attn, multihead_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;

 private:
  Tensor feed(const Tensor& x);

  int64_t d_model_, nhead_;
  TransformerLayerOptions options_;
};

class TransformerEncoder : public Layer<TransformerEncoder> {
 public:
  // Clones of the layer, which is not kept.
  TransformerEncoder(const TransformerEncoderLayer& layer, int64_t num_layers,
                     std::shared_ptr<LayerNorm> norm = nullptr);
  static constexpr std::array kArguments{"src", "mask", "src_key_padding_mask", "is_causal"};
  // Without `is_causal`, the mask is read to find out, which cannot be traced.
  Tensor forward(const Tensor& src, const std::optional<Tensor>& mask = {},
                 const std::optional<Tensor>& src_key_padding_mask = {}, std::optional<bool> is_causal = {});
  std::string class_name() const override { return "torch.nn.modules.transformer.TransformerEncoder"; }

  ModuleList<TransformerEncoderLayer> layers;

 private:
  std::shared_ptr<LayerNorm> norm_;
};

class TransformerDecoder : public Layer<TransformerDecoder> {
 public:
  TransformerDecoder(const TransformerDecoderLayer& layer, int64_t num_layers,
                     std::shared_ptr<LayerNorm> norm = nullptr);
  static constexpr std::array kArguments{"tgt",
                                         "memory",
                                         "tgt_mask",
                                         "memory_mask",
                                         "tgt_key_padding_mask",
                                         "memory_key_padding_mask",
                                         "tgt_is_causal",
                                         "memory_is_causal"};
  Tensor forward(const Tensor& tgt, const Tensor& memory, const std::optional<Tensor>& tgt_mask = {},
                 const std::optional<Tensor>& memory_mask = {},
                 const std::optional<Tensor>& tgt_key_padding_mask = {},
                 const std::optional<Tensor>& memory_key_padding_mask = {},
                 std::optional<bool> tgt_is_causal = {}, std::optional<bool> memory_is_causal = {});
  std::string class_name() const override { return "torch.nn.modules.transformer.TransformerDecoder"; }

  ModuleList<TransformerDecoderLayer> layers;

 private:
  std::shared_ptr<LayerNorm> norm_;
};

struct TransformerOptions {
  int64_t num_encoder_layers = 6;
  int64_t num_decoder_layers = 6;
  TransformerLayerOptions layer = {};
};

class Transformer : public Layer<Transformer> {
 public:
  explicit Transformer(int64_t d_model = 512, int64_t nhead = 8, const TransformerOptions& options = {});
  static constexpr std::array kArguments{"src",
                                         "tgt",
                                         "src_mask",
                                         "tgt_mask",
                                         "memory_mask",
                                         "src_key_padding_mask",
                                         "tgt_key_padding_mask",
                                         "memory_key_padding_mask",
                                         "src_is_causal",
                                         "tgt_is_causal",
                                         "memory_is_causal"};
  Tensor forward(const Tensor& src, const Tensor& tgt, const std::optional<Tensor>& src_mask = {},
                 const std::optional<Tensor>& tgt_mask = {}, const std::optional<Tensor>& memory_mask = {},
                 const std::optional<Tensor>& src_key_padding_mask = {},
                 const std::optional<Tensor>& tgt_key_padding_mask = {},
                 const std::optional<Tensor>& memory_key_padding_mask = {},
                 std::optional<bool> src_is_causal = {}, std::optional<bool> tgt_is_causal = {},
                 std::optional<bool> memory_is_causal = {});
  std::string class_name() const override { return "torch.nn.modules.transformer.Transformer"; }

  // Zero on and below the diagonal, minus infinity above it.
  static Tensor generate_square_subsequent_mask(const SymInt& size);

  std::shared_ptr<TransformerEncoder> encoder;
  std::shared_ptr<TransformerDecoder> decoder;

 private:
  int64_t d_model_;
  bool batch_first_;
};

}  // namespace flambeau::nn
