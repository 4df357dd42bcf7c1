#include "flambeau/nn/layers/attention.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/activation.h"
#include "flambeau/nn/functional/attention.h"
#include "flambeau/nn/functional/create.h"
#include "flambeau/nn/functional/elementwise.h"
#include "flambeau/nn/functional/matrix.h"
#include "flambeau/nn/functional/padding.h"
#include "flambeau/nn/functional/reduction.h"
#include "flambeau/nn/functional/shape.h"
#include "flambeau/nn/init.h"

namespace flambeau::nn {
namespace {

[[noreturn]] void refuse_attention(const std::string& what, const std::string& remedy = {}) {
  throw Error(ErrorCode::kInvalidArgument, "MultiheadAttention: " + what, remedy);
}

// [..., n * e] as n tensors of [..., e], in PyTorch's way.
Tensor unpacked(const Tensor& packed, int64_t count, const SymInt& size) {
  const Tensor parts = unsqueeze(unflatten(packed, -1, {count, size}), 0);
  return contiguous(squeeze(transpose(parts, 0, -2), -2));
}

void check_mask_sizes(const Tensor& mask, const SymInt& batches, const SymInt& target, const SymInt& source) {
  const SymIntList given = sizes(mask);
  const size_t rank = given.size();
  if (rank != 2 && rank != 3)
    refuse_attention(fmt::format("attn_mask has {} dimensions, 2 or 3 are expected", rank));
  const bool fits =
      given[rank - 2] == target && given[rank - 1] == source && (rank == 2 || given[0] == batches);
  if (!fits) refuse_attention("attn_mask does not have the sizes of the queries and keys");
}

}  // namespace

Tensor additive_mask(const Tensor& mask, DType dtype) {
  if (!mask.defined() || dtype_info(mask.dtype()).is_floating) return mask;
  if (mask.dtype() != DType::kBool)
    refuse_attention(fmt::format("a mask is bool or floating-point, not {}", dtype_name(mask.dtype())));
  return masked_fill_(zeros_like(mask, dtype), mask, -std::numeric_limits<double>::infinity());
}

MultiheadAttention::MultiheadAttention(int64_t embed_dim, int64_t num_heads,
                                       const MultiheadAttentionOptions& options)
    : out_proj(embed_dim, embed_dim, options.bias),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      options_(options) {
  if (embed_dim <= 0 || num_heads <= 0 || embed_dim % num_heads != 0)
    refuse_attention(fmt::format("{} numbers cannot be divided among {} heads", embed_dim, num_heads));
  const int64_t kdim = options.kdim.value_or(embed_dim), vdim = options.vdim.value_or(embed_dim);
  if (kdim == embed_dim && vdim == embed_dim) {
    in_proj_weight = init::empty({3 * embed_dim, embed_dim});
  } else {
    q_proj_weight = init::empty({embed_dim, embed_dim});
    k_proj_weight = init::empty({embed_dim, kdim});
    v_proj_weight = init::empty({embed_dim, vdim});
  }
  if (options.bias) in_proj_bias = init::zeros({3 * embed_dim});
  if (options.add_bias_kv) {
    bias_k = init::empty({1, 1, embed_dim});
    bias_v = init::empty({1, 1, embed_dim});
  }
  // PyTorch registers what is left out in another place, where nobody sees it.
  add_parameter("q_proj_weight", q_proj_weight);
  add_parameter("k_proj_weight", k_proj_weight);
  add_parameter("v_proj_weight", v_proj_weight);
  add_parameter("in_proj_weight", in_proj_weight);
  add_parameter("in_proj_bias", in_proj_bias);
  add_parameter("bias_k", bias_k);
  add_parameter("bias_v", bias_v);
  add_module("out_proj", out_proj);
  // The random numbers in PyTorch's order: the output's weight was drawn when it was made.
  for (const Tensor* const weight : {&in_proj_weight, &q_proj_weight, &k_proj_weight, &v_proj_weight}) {
    if (weight->defined()) init::xavier_uniform_(*weight);
  }
  if (options.bias) init::constant_(out_proj.bias, 0);
  for (const Tensor* const bias : {&bias_k, &bias_v}) {
    if (bias->defined()) init::xavier_normal_(*bias);
  }
}

MultiheadAttention::Projected MultiheadAttention::project(const Tensor& query, const Tensor& key,
                                                          const Tensor& value) const {
  const SymInt size = nn::size(query, -1);
  // With projections of their own, keys and values may differ in the last size.
  SymIntList keys = sizes(key);
  SymIntList values = sizes(value);
  if (!in_proj_weight.defined()) {
    keys.erase(keys.size() - 1);
    values.erase(values.size() - 1);
  }
  if (!(keys == values)) refuse_attention("keys and values have different sizes");
  if (!in_proj_weight.defined()) {
    TensorList biases(3);
    if (in_proj_bias.defined()) biases = chunk(in_proj_bias, 3);
    const Tensor q = linear(query, q_proj_weight, biases[0]);
    const Tensor k = linear(key, k_proj_weight, biases[1]);
    return {q, k, linear(value, v_proj_weight, biases[2])};
  }
  if (is_same_tensor(key, value) && is_same_tensor(query, key)) {
    const Tensor all = unpacked(linear(query, in_proj_weight, in_proj_bias), 3, size);
    const Tensor q = select(all, 0, 0);
    const Tensor k = select(all, 0, 1);
    return {q, k, select(all, 0, 2)};
  }
  if (is_same_tensor(key, value)) {
    const TensorList weights = split(in_proj_weight, Sizes{size, size * 2});
    TensorList biases(2);
    if (in_proj_bias.defined()) biases = split(in_proj_bias, Sizes{size, size * 2});
    const Tensor q = linear(query, weights[0], biases[0]);
    const Tensor both = unpacked(linear(key, weights[1], biases[1]), 2, size);
    const Tensor k = select(both, 0, 0);
    return {q, k, select(both, 0, 1)};
  }
  const TensorList weights = chunk(in_proj_weight, 3);
  TensorList biases(3);
  if (in_proj_bias.defined()) biases = chunk(in_proj_bias, 3);
  const Tensor q = linear(query, weights[0], biases[0]);
  const Tensor k = linear(key, weights[1], biases[1]);
  return {q, k, linear(value, weights[2], biases[2])};
}

std::pair<Tensor, std::optional<Tensor>> MultiheadAttention::attend(Tensor query, Tensor key, Tensor value,
                                                                    Tensor padding, Tensor mask,
                                                                    bool need_weights, bool average_weights,
                                                                    bool is_causal) const {
  const bool is_batched = dim(query) == 3;
  if (!is_batched) {
    query = unsqueeze(query, 1);
    key = unsqueeze(key, 1);
    value = unsqueeze(value, 1);
    if (padding.defined()) padding = unsqueeze(padding, 0);
  }
  const SymInt target = size(query, 0), batch = size(query, 1), heads = num_heads_;
  const int64_t head_size = embed_dim_ / num_heads_;
  if (!(size(query, 2) == SymInt(embed_dim_)))
    refuse_attention(fmt::format("the queries do not have {} numbers", embed_dim_));
  if (is_causal && !mask.defined()) refuse_attention("is_causal needs the mask that it speaks of");
  if (is_causal && !padding.defined() && !need_weights) {
    mask = Tensor();
  } else if (padding.defined()) {
    is_causal = false;
  }
  auto [q, k, v] = project(query, key, value);
  if (mask.defined()) {
    check_mask_sizes(mask, batch * heads, target, size(key, 0));
    if (dim(mask) == 2) mask = unsqueeze(mask, 0);
  }
  const auto widen_masks = [&] {
    if (mask.defined()) mask = pad(mask, {0, 1});
    if (padding.defined()) padding = pad(padding, {0, 1});
  };
  if (bias_k.defined()) {
    k = cat({k, repeat(bias_k, {1, batch, 1})});
    v = cat({v, repeat(bias_v, {1, batch, 1})});
    widen_masks();
  }
  q = transpose(view(q, {target, batch * heads, head_size}), 0, 1);
  k = transpose(view(k, {size(k, 0), batch * heads, head_size}), 0, 1);
  v = transpose(view(v, {size(v, 0), batch * heads, head_size}), 0, 1);
  if (options_.add_zero_attn) {
    k = cat({k, zeros({batch * heads, 1, head_size}, k.dtype())}, 1);
    v = cat({v, zeros({batch * heads, 1, head_size}, v.dtype())}, 1);
    widen_masks();
  }
  const SymInt source = size(k, 1);
  if (padding.defined()) {
    if (!(size(padding, 0) == batch) || !(size(padding, 1) == source))
      refuse_attention("key_padding_mask does not have the sizes of the batch and the keys");
    padding = reshape(expand(view(padding, {batch, 1, 1, source}), {-1, heads, -1, -1}),
                      {batch * heads, 1, source});
    mask = mask.defined() ? add(mask, padding) : padding;
  }
  const double dropout_p = is_training() ? options_.dropout : 0.0;
  if (need_weights) {
    const Tensor scaled = mul(q, std::sqrt(1.0 / static_cast<double>(head_size)));
    const Tensor keys = transpose(k, -2, -1);
    Tensor weights = softmax(mask.defined() ? baddbmm(mask, scaled, keys) : bmm(scaled, keys), -1);
    if (dropout_p > 0) weights = dropout(weights, dropout_p);
    Tensor output = reshape(transpose(bmm(weights, v), 0, 1), {target * batch, embed_dim_});
    output = view(linear(output, out_proj.weight, out_proj.bias), {target, batch, embed_dim_});
    weights = view(weights, {batch, heads, target, source});
    if (average_weights) weights = mean(weights, 1);
    if (is_batched) return {output, weights};
    output = squeeze(output, 1);
    return {output, squeeze(weights, 0)};
  }
  if (mask.defined())
    mask = dim(mask) == 3 && size(mask, 0) == SymInt(1) ? unsqueeze(mask, 0)
                                                        : view(mask, {batch, heads, -1, source});
  q = view(q, {batch, heads, target, head_size});
  k = view(k, {batch, heads, source, head_size});
  v = view(v, {batch, heads, source, head_size});
  Tensor output = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal);
  output = reshape(permute(output, {2, 0, 1, 3}), {batch * target, embed_dim_});
  output = view(linear(output, out_proj.weight, out_proj.bias), {target, batch, embed_dim_});
  return {is_batched ? output : squeeze(output, 1), std::nullopt};
}

// Where PyTorch would have called its fused operator, had it not been traced, it gives the result its layout.
bool MultiheadAttention::would_be_fast(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const Tensor& padding, const Tensor& mask) const {
  for (const Tensor* const given : {&padding, &mask}) {
    if (given->defined() && dtype_info(given->dtype()).is_floating) return false;
  }
  if (dim(query) != 3 || !is_same_tensor(query, key) || !is_same_tensor(key, value) || is_training() ||
      num_heads_ % 2 != 0 || !options_.batch_first || bias_k.defined() || options_.add_zero_attn ||
      !in_proj_weight.defined() || query.dtype() != in_proj_weight.dtype())
    return false;
  for (const Tensor* const tensor :
       {&query, &in_proj_weight, &in_proj_bias, &out_proj.weight, &out_proj.bias}) {
    if (tensor->requires_grad()) return false;
  }
  return true;
}

std::pair<Tensor, std::optional<Tensor>> MultiheadAttention::forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const std::optional<Tensor>& key_padding_mask, std::optional<bool> need_weights,
    const std::optional<Tensor>& attn_mask, std::optional<bool> average_attn_weights,
    std::optional<bool> is_causal) {
  if (dim(query) != 2 && dim(query) != 3)
    refuse_attention(fmt::format("queries have 2 or 3 dimensions, not {}", dim(query)));
  const bool makes_contiguous =
      would_be_fast(query, key, value, or_none(key_padding_mask), or_none(attn_mask));
  const Tensor padding = additive_mask(or_none(key_padding_mask), query.dtype());
  const Tensor mask = additive_mask(or_none(attn_mask), query.dtype());
  const bool swaps = options_.batch_first && dim(query) == 3;
  Tensor q = query, k = key, v = value;
  if (swaps) {
    // What was the same tensor stays the same one.
    q = transpose(query, 1, 0);
    k = is_same_tensor(query, key) && is_same_tensor(key, value) ? q : transpose(key, 1, 0);
    v = is_same_tensor(key, value) ? k : transpose(value, 1, 0);
  }
  auto [output, weights] = attend(q, k, v, padding, mask, need_weights.value_or(true),
                                  average_attn_weights.value_or(true), is_causal.value_or(false));
  if (swaps) output = transpose(output, 1, 0);
  if (swaps && makes_contiguous) output = contiguous(output);
  return {output, weights};
}

}  // namespace flambeau::nn
