#include "flambeau/nn/layers/transformer.h"

#include <fmt/format.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/activation.h"
#include "flambeau/nn/functional/create.h"
#include "flambeau/nn/functional/operators.h"
#include "flambeau/nn/functional/reduction.h"
#include "flambeau/nn/functional/shape.h"
#include "flambeau/nn/init.h"
#include "flambeau/ops/mechanism/context.h"

namespace flambeau::nn {
namespace {

MultiheadAttentionOptions attention_options(const TransformerLayerOptions& options) {
  return {.dropout = options.dropout, .bias = options.bias, .batch_first = options.batch_first};
}

LayerNormOptions norm_options(const TransformerLayerOptions& options) {
  return {.eps = options.layer_norm_eps, .bias = options.bias};
}

void check_activation(const std::string& name) {
  if (name == "relu" || name == "gelu") return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is no activation of a transformer", printable(name)), "take relu or gelu");
}

Tensor activate(const std::string& name, const Tensor& x) { return name == "relu" ? relu(x) : gelu(x); }

// A module made anew without a trace in the random numbers, with the values of another.
template <typename Make>
auto cloned(const Module& from, const Make& make) {
  kernels::Generator& generator = current().require_generator();
  const auto state = generator.state();
  auto clone = make();
  generator.set_state(state);
  clone->load_state_dict(from.state_dict());
  clone->train(from.is_training());
  return clone;
}

SymInt sequence_length(const Tensor& x, bool batch_first) {
  return size(x, dim(x) == 3 && batch_first ? 1 : 0);
}

// PyTorch looks into a mask that nobody spoke of.
bool detect_causal(const Tensor& mask, std::optional<bool> is_causal, const SymInt& length) {
  if (is_causal || !mask.defined()) return is_causal.value_or(false);
  const Tensor causal =
      triu(full({length, length}, -std::numeric_limits<double>::infinity(), mask.dtype()), 1);
  if (dim(mask) != 2 || !(size(mask, 0) == length) || !(size(mask, 1) == length)) return false;
  const Tensor is_equal = all(eq(mask, causal));
  const std::vector<Value> answer = call_values(std::source_location::current(), "aten::item", {is_equal});
  if (answer.at(0).is<bool>()) return answer[0].get<bool>();
  throw Error(ErrorCode::kUnsupported, "whether a mask is causal is not known while a transformer is traced",
              "pass is_causal");
}

std::optional<Tensor> optional(const Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead,
                                                 const TransformerLayerOptions& options)
    : self_attn(d_model, nhead, attention_options(options)),
      linear1(d_model, options.dim_feedforward, options.bias),
      dropout(options.dropout),
      linear2(options.dim_feedforward, d_model, options.bias),
      norm1(d_model, norm_options(options)),
      norm2(d_model, norm_options(options)),
      dropout1(options.dropout),
      dropout2(options.dropout),
      d_model_(d_model),
      nhead_(nhead),
      options_(options) {
  check_activation(options.activation);
  add_module("self_attn", self_attn);
  add_module("linear1", linear1);
  add_module("dropout", dropout);
  add_module("linear2", linear2);
  add_module("norm1", norm1);
  add_module("norm2", norm2);
  add_module("dropout1", dropout1);
  add_module("dropout2", dropout2);
}

std::shared_ptr<TransformerEncoderLayer> TransformerEncoderLayer::clone() const {
  return cloned(*this, [&] { return std::make_shared<TransformerEncoderLayer>(d_model_, nhead_, options_); });
}

Tensor TransformerEncoderLayer::attend(const Tensor& x, const Tensor& mask, const Tensor& padding,
                                       bool is_causal) {
  return dropout1(
      self_attn(x, x, x, optional(padding), false, optional(mask), std::nullopt, is_causal).first);
}

Tensor TransformerEncoderLayer::feed(const Tensor& x) {
  return dropout2(linear2(dropout(activate(options_.activation, linear1(x)))));
}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const std::optional<Tensor>& src_mask,
                                        const std::optional<Tensor>& src_key_padding_mask,
                                        std::optional<bool> is_causal) {
  const Tensor padding = additive_mask(or_none(src_key_padding_mask), src.dtype());
  const Tensor mask = additive_mask(or_none(src_mask), src.dtype());
  const bool causal = is_causal.value_or(false);
  if (options_.norm_first) {
    const Tensor x = src + attend(norm1(src), mask, padding, causal);
    return x + feed(norm2(x));
  }
  const Tensor x = norm1(src + attend(src, mask, padding, causal));
  return norm2(x + feed(x));
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t d_model, int64_t nhead,
                                                 const TransformerLayerOptions& options)
    : self_attn(d_model, nhead, attention_options(options)),
      multihead_attn(d_model, nhead, attention_options(options)),
      linear1(d_model, options.dim_feedforward, options.bias),
      dropout(options.dropout),
      linear2(options.dim_feedforward, d_model, options.bias),
      norm1(d_model, norm_options(options)),
      norm2(d_model, norm_options(options)),
      norm3(d_model, norm_options(options)),
      dropout1(options.dropout),
      dropout2(options.dropout),
      dropout3(options.dropout),
      d_model_(d_model),
      nhead_(nhead),
      options_(options) {
  check_activation(options.activation);
  add_module("self_attn", self_attn);
  add_module("multihead_attn", multihead_attn);
  add_module("linear1", linear1);
  add_module("dropout", dropout);
  add_module("linear2", linear2);
  add_module("norm1", norm1);
  add_module("norm2", norm2);
  add_module("norm3", norm3);
  add_module("dropout1", dropout1);
  add_module("dropout2", dropout2);
  add_module("dropout3", dropout3);
}

std::shared_ptr<TransformerDecoderLayer> TransformerDecoderLayer::clone() const {
  return cloned(*this, [&] { return std::make_shared<TransformerDecoderLayer>(d_model_, nhead_, options_); });
}

Tensor TransformerDecoderLayer::feed(const Tensor& x) {
  return dropout3(linear2(dropout(activate(options_.activation, linear1(x)))));
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory,
                                        const std::optional<Tensor>& tgt_mask,
                                        const std::optional<Tensor>& memory_mask,
                                        const std::optional<Tensor>& tgt_key_padding_mask,
                                        const std::optional<Tensor>& memory_key_padding_mask,
                                        std::optional<bool> tgt_is_causal,
                                        std::optional<bool> memory_is_causal) {
  const auto attend_self = [&](const Tensor& x) {
    return dropout1(
        self_attn(x, x, x, tgt_key_padding_mask, false, tgt_mask, std::nullopt, tgt_is_causal).first);
  };
  const auto attend_memory = [&](const Tensor& x) {
    return dropout2(multihead_attn(x, memory, memory, memory_key_padding_mask, false, memory_mask,
                                   std::nullopt, memory_is_causal)
                        .first);
  };
  if (options_.norm_first) {
    Tensor x = tgt + attend_self(norm1(tgt));
    x = x + attend_memory(norm2(x));
    return x + feed(norm3(x));
  }
  Tensor x = norm1(tgt + attend_self(tgt));
  x = norm2(x + attend_memory(x));
  return norm3(x + feed(x));
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer, int64_t num_layers,
                                       std::shared_ptr<LayerNorm> norm)
    : norm_(std::move(norm)) {
  for (int64_t i = 0; i < num_layers; ++i) layers.append(layer.clone());
  add_module("layers", layers);
  if (norm_) add_module("norm", *norm_);
}

Tensor TransformerEncoder::forward(const Tensor& src, const std::optional<Tensor>& mask,
                                   const std::optional<Tensor>& src_key_padding_mask,
                                   std::optional<bool> is_causal) {
  const Tensor padding = additive_mask(or_none(src_key_padding_mask), src.dtype());
  const Tensor added = additive_mask(or_none(mask), src.dtype());
  const bool batch_first = layers.size() > 0 && layers[0].self_attn.batch_first();
  const bool causal = detect_causal(added, is_causal, sequence_length(src, batch_first));
  Tensor output = src;
  for (TransformerEncoderLayer& layer : layers)
    output = layer(output, optional(added), optional(padding), causal);
  return norm_ ? (*norm_)(output) : output;
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer, int64_t num_layers,
                                       std::shared_ptr<LayerNorm> norm)
    : norm_(std::move(norm)) {
  for (int64_t i = 0; i < num_layers; ++i) layers.append(layer.clone());
  add_module("layers", layers);
  if (norm_) add_module("norm", *norm_);
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory,
                                   const std::optional<Tensor>& tgt_mask,
                                   const std::optional<Tensor>& memory_mask,
                                   const std::optional<Tensor>& tgt_key_padding_mask,
                                   const std::optional<Tensor>& memory_key_padding_mask,
                                   std::optional<bool> tgt_is_causal, std::optional<bool> memory_is_causal) {
  const bool batch_first = layers.size() > 0 && layers[0].self_attn.batch_first();
  const bool causal = detect_causal(or_none(tgt_mask), tgt_is_causal, sequence_length(tgt, batch_first));
  Tensor output = tgt;
  for (TransformerDecoderLayer& layer : layers) {
    output = layer(output, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                   causal, memory_is_causal.value_or(false));
  }
  return norm_ ? (*norm_)(output) : output;
}

Transformer::Transformer(int64_t d_model, int64_t nhead, const TransformerOptions& options)
    : d_model_(d_model), batch_first_(options.layer.batch_first) {
  const TransformerEncoderLayer encoder_layer(d_model, nhead, options.layer);
  encoder =
      std::make_shared<TransformerEncoder>(encoder_layer, options.num_encoder_layers,
                                           std::make_shared<LayerNorm>(d_model, norm_options(options.layer)));
  const TransformerDecoderLayer decoder_layer(d_model, nhead, options.layer);
  decoder =
      std::make_shared<TransformerDecoder>(decoder_layer, options.num_decoder_layers,
                                           std::make_shared<LayerNorm>(d_model, norm_options(options.layer)));
  add_module("encoder", *encoder);
  add_module("decoder", *decoder);
  for (const NamedSlot& slot : named_parameters()) {
    if (slot.tensor->dim() > 1) init::xavier_uniform_(*slot.tensor);
  }
}

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt, const std::optional<Tensor>& src_mask,
                            const std::optional<Tensor>& tgt_mask, const std::optional<Tensor>& memory_mask,
                            const std::optional<Tensor>& src_key_padding_mask,
                            const std::optional<Tensor>& tgt_key_padding_mask,
                            const std::optional<Tensor>& memory_key_padding_mask,
                            std::optional<bool> src_is_causal, std::optional<bool> tgt_is_causal,
                            std::optional<bool> memory_is_causal) {
  const int64_t batch_dim = batch_first_ ? 0 : 1;
  if (dim(src) == 3 && !(size(src, batch_dim) == size(tgt, batch_dim))) {
    throw Error(ErrorCode::kInvalidArgument, "Transformer: src and tgt have batches of different sizes");
  }
  if (!(size(src, -1) == SymInt(d_model_)) || !(size(tgt, -1) == SymInt(d_model_))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Transformer: src and tgt must have {} numbers in each vector", d_model_));
  }
  const Tensor memory = (*encoder)(src, src_mask, src_key_padding_mask, src_is_causal);
  return (*decoder)(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                    tgt_is_causal, memory_is_causal);
}

Tensor Transformer::generate_square_subsequent_mask(const SymInt& size) {
  return triu(full({size, size}, -std::numeric_limits<double>::infinity()), 1);
}

}  // namespace flambeau::nn
