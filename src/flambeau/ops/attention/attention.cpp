// Scaled dot-product attention, in the forms that PyTorch's programs call it by.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "flambeau/ops/attention/attend.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {
namespace {

bool is_attended(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kBFloat16 ||
         dtype == DType::kFloat16;
}

template <typename N>
void check_inputs(const Info<N>& query, const Info<N>& key, const Info<N>& value, const Info<N>* mask) {
  if (query.dtype != key.dtype || query.dtype != value.dtype) {
    fail_argument(fmt::format(
        "Expected query, key, and value to have the same dtype, but got query.dtype: {} key.dtype: "
        "{} and value.dtype: {} instead.",
        dtype_name(query.dtype), dtype_name(key.dtype), dtype_name(value.dtype)));
  }
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2) {
    fail_argument(
        fmt::format("Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {} "
                    "key.dim: {} and value.dim: {} instead.",
                    query.dim(), key.dim(), value.dim()));
  }
  if (mask != nullptr && mask->dtype != DType::kBool && mask->dtype != DType::kFloat32 &&
      mask->dtype != query.dtype) {
    fail_argument(fmt::format(
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {} "
        "and  query.dtype: {} instead.",
        dtype_name(mask->dtype), dtype_name(query.dtype)));
  }
  if (!(query.sizes[query.dim() - 1] == key.sizes[key.dim() - 1]) ||
      !(key.sizes[key.dim() - 2] == value.sizes[value.dim() - 2])) {
    fail_argument("attention: the sizes of query, key and value do not fit each other");
  }
}

// Where PyTorch takes its fused kernel, whose result lies as the query does.
template <typename N>
bool is_fused(const Info<N>& query, const Info<N>& key, const Info<N>& value, const Info<N>* mask,
              double dropout_p, bool enable_gqa) {
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4 || dropout_p > 0) return false;
  if (!is_attended(query.dtype)) return false;
  if (!(query.sizes[0] == key.sizes[0]) || !(query.sizes[0] == value.sizes[0])) return false;
  if (!(key.sizes[1] == value.sizes[1])) return false;
  if (!enable_gqa && !(query.sizes[1] == key.sizes[1])) return false;
  if (enable_gqa && !(modulo(query.sizes[1], key.sizes[1]) == N(0))) return false;
  if (!(query.sizes[3] == value.sizes[3]) || query.sizes[2] == N(0) || key.sizes[2] == N(0)) return false;
  for (const Info<N>* const info : {&query, &key, &value}) {
    if (!(info->strides[3] == N(1))) return false;
  }
  if (mask == nullptr) return true;
  const auto fits = [](const N& size, const N& wanted) { return size == wanted || size == N(1); };
  const size_t rank = mask->dim();
  if (rank != 2 && rank != 4) return false;
  if (!fits(mask->sizes[rank - 2], query.sizes[2]) || !fits(mask->sizes[rank - 1], key.sizes[2]))
    return false;
  return rank == 2 || (fits(mask->sizes[0], query.sizes[0]) && fits(mask->sizes[1], query.sizes[1]));
}

template <typename N>
ShortList<N> heads_of(const Info<N>& info, std::optional<N> heads = std::nullopt) {
  ShortList<N> sizes;
  for (size_t d = 0; d + 2 < info.dim(); ++d) sizes.push_back(info.sizes[d]);
  if (heads && !sizes.empty()) sizes.back() = *heads;
  return sizes;
}

// The result of plain matrix products, and that of the softmax.
template <typename N>
std::tuple<Info<N>, Info<N>> plain_infos(const Info<N>& query, const Info<N>& key, const Info<N>& value,
                                         bool enable_gqa) {
  std::optional<N> heads;
  if (enable_gqa) {
    require(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3,
            "attention: grouped queries need a dimension of heads");
    heads = query.sizes[query.dim() - 3];
  }
  ShortList<N> attended = broadcast(heads_of(query), heads_of(key, heads));
  ShortList<N> sizes = broadcast(attended, heads_of(value, heads));
  attended.push_back(query.sizes[query.dim() - 2]);
  attended.push_back(key.sizes[key.dim() - 2]);
  sizes.push_back(query.sizes[query.dim() - 2]);
  sizes.push_back(value.sizes[value.dim() - 1]);
  return {contiguous<N>(query.dtype, std::move(sizes), query.device),
          contiguous<N>(query.dtype, std::move(attended), query.device)};
}

template <typename N>
Info<N> fused_info(const Info<N>& query) {
  return {.dtype = query.dtype,
          .sizes = query.sizes,
          .strides = like_strides(query, MemoryFormat::kPreserve),
          .device = query.device};
}

template <typename N>
Info<N> attention_shape(const Info<N>& query, const Info<N>& key, const Info<N>& value, const Info<N>* mask,
                        double dropout_p, bool is_causal, std::optional<double>, bool enable_gqa) {
  check_inputs(query, key, value, mask);
  if (is_fused(query, key, value, mask, dropout_p, enable_gqa)) return fused_info(query);
  require(!is_causal || mask == nullptr,
          "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  return std::get<0>(plain_infos(query, key, value, enable_gqa));
}

// ---- computing

Tensor to_compute(Context& context, const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  const Tensor made = context.allocate(dtype, tensor.sizes());
  copy_into(context, tensor, made);
  return made;
}

// A mask of bools, where false hides, as one that is added.
Tensor added_mask(Context& context, const Tensor& mask, DType dtype) {
  if (mask.dtype() != DType::kBool) return to_compute(context, mask, dtype);
  const Tensor made = to_compute(context, mask, dtype);
  const auto hide = [&]<typename T>(T* numbers) {
    for (int64_t i = 0; i < made.element_count(); ++i) {
      numbers[i] = numbers[i] != 0 ? T(0) : -std::numeric_limits<T>::infinity();
    }
  };
  if (made.element_count() == 0) return made;
  dtype == DType::kFloat64 ? hide(made.mutable_data<double>()) : hide(made.mutable_data<float>());
  return made;
}

Tensor with_rank(Tensor tensor, size_t rank) {
  while (tensor.defined() && tensor.dim() < rank) tensor = unsqueezed(tensor, 0);
  return tensor;
}

// The dimension of heads as groups of heads, which share a key and value.
Tensor with_groups(const Tensor& tensor, int64_t groups, int64_t heads_in_group) {
  if (!tensor.defined()) return tensor;
  Geometry geometry = tensor.geometry();
  const size_t at = geometry.sizes.size() - 3;
  const int64_t stride = geometry.strides[at];
  const bool is_shared = geometry.sizes[at] == groups && heads_in_group > 1;  // a key or value
  const int64_t inner = geometry.sizes[at] == 1 || is_shared ? 1 : heads_in_group;
  geometry.sizes[at] = geometry.sizes[at] / inner;
  geometry.strides[at] = stride * inner;
  geometry.sizes.insert(at + 1, inner);
  geometry.strides.insert(at + 1, stride);
  return tensor.with_geometry(std::move(geometry));
}

// What is read must broadcast to the result's heads; groups of heads are checked on their own.
void check_sizes(const AttentionTensors& tensors, bool enable_gqa) {
  const Dims& out = tensors.out.sizes();
  const size_t rank = out.size();
  const auto check = [&](const char* name, const Tensor& tensor, bool has_groups) {
    bool fits = tensor.dim() == rank;
    for (size_t d = 0; fits && d + 2 < rank; ++d) {
      if (has_groups && d + 3 == rank) continue;
      fits = tensor.sizes()[d] == 1 || tensor.sizes()[d] == out[d];
    }
    if (fits) return;
    fail_argument(fmt::format("attention: {} of shape {} does not fit a result of shape {}", name,
                              Value(tensor.sizes()).summary(), Value(out).summary()));
  };
  check("a query", tensors.query, false);
  check("a key", tensors.key, enable_gqa);
  check("a value", tensors.value, enable_gqa);
  if (!tensors.mask.defined()) return;
  check("a mask", tensors.mask, false);
  const int64_t rows = tensors.mask.sizes()[rank - 2];
  const int64_t columns = tensors.mask.sizes()[rank - 1];
  const int64_t keys = tensors.key.sizes()[rank - 2];
  if ((rows == 1 || rows == out[rank - 2]) && (columns == 1 || columns == keys)) return;
  fail_argument(fmt::format("attention: a mask of {} x {} does not fit {} queries and {} keys", rows, columns,
                            out[rank - 2], keys));
}

struct Results {
  bool is_fused;
  const Tensor* out;
  const Tensor* weights = nullptr;
  const Tensor* log_sums = nullptr;
};

void compute(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
             const Tensor* mask, bool is_causal, std::optional<double> scale, bool enable_gqa,
             const Results& results) {
  if (!is_attended(query.dtype())) fail_dtype("softmax_lastdim_kernel_impl", query.dtype());
  const DType dtype = compute_dtype(query.dtype());
  const size_t rank = results.out->dim();
  if (results.out->element_count() == 0) return;
  if (value.element_count() == 0) return fill(context, *results.out, 0);
  const auto result = [&](const Tensor* wanted) -> Tensor {
    if (wanted == nullptr) return {};
    return wanted->dtype() == dtype ? *wanted : context.allocate(dtype, wanted->sizes());
  };
  const Tensor out = result(results.out);
  const Tensor weights = result(results.weights);
  AttentionTensors tensors{.query = with_rank(to_compute(context, query, dtype), rank),
                           .key = with_rank(to_compute(context, key, dtype), rank),
                           .value = with_rank(to_compute(context, value, dtype), rank),
                           .out = out,
                           .weights = with_rank(weights, rank),
                           .rounding = results.is_fused ? query.dtype() : dtype};
  if (mask != nullptr) tensors.mask = with_rank(added_mask(context, *mask, dtype), rank);
  if (results.log_sums != nullptr) tensors.log_sums = unsqueezed(*results.log_sums, rank - 1);
  check_sizes(tensors, enable_gqa);
  if (enable_gqa) {
    const int64_t groups = tensors.key.sizes()[rank - 3];
    const int64_t heads = tensors.query.sizes()[rank - 3];
    if (groups == 0 || heads % groups != 0 || tensors.value.sizes()[rank - 3] != groups) {
      fail_argument("Number of heads in key and value must divide the number of heads in query");
    }
    if (groups != heads) {
      for (Tensor* const tensor : {&tensors.query, &tensors.key, &tensors.value, &tensors.mask, &tensors.out,
                                   &tensors.weights, &tensors.log_sums}) {
        *tensor = with_groups(*tensor, groups, heads / groups);
      }
    }
  }
  attend(context, tensors, scale.value_or(1.0 / std::sqrt(static_cast<double>(query.sizes().back()))),
         is_causal);
  if (out.storage() != results.out->storage()) copy_into(context, out, *results.out);
  if (results.weights != nullptr && weights.storage() != results.weights->storage()) {
    copy_into(context, weights, *results.weights);
  }
}

// 1: the fused kernel, 0: plain products.
int64_t choose(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
               double dropout_p, bool, std::optional<double>, bool enable_gqa) {
  Info<Size> mask_info;
  if (mask != nullptr) mask_info = info_of(*mask);
  return is_fused(info_of(query), info_of(key), info_of(value), mask == nullptr ? nullptr : &mask_info,
                  dropout_p, enable_gqa)
             ? 1
             : 0;
}

// With dropout everything is computed in the compute type and rounded at the end.
void compute_dropped(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor* mask, double dropout_p, bool is_causal, const Tensor* dropout_mask,
                     std::optional<double> scale, bool enable_gqa, const Tensor& out, const Tensor* weights) {
  const DType dtype = compute_dtype(query.dtype());
  const auto infos = plain_infos(info_of(query), info_of(key), info_of(value), enable_gqa);
  const Tensor all = context.allocate(dtype, std::get<1>(infos).sizes);
  const Tensor result = context.allocate(dtype, out.sizes());
  const Tensor q = to_compute(context, query, dtype);
  const Tensor k = to_compute(context, key, dtype);
  Tensor v = to_compute(context, value, dtype);
  compute(context, q, k, v, mask, is_causal, scale, enable_gqa, {false, &result, &all});
  const Tensor kept = dropout_mask == nullptr ? call(context, "aten::dropout", all, dropout_p, true)
                                              : call(context, "aten::mul.Tensor", all, *dropout_mask);
  Tensor left = with_rank(kept, out.dim());
  Tensor target = result;
  v = with_rank(v, out.dim());
  const size_t rank = out.dim();
  if (enable_gqa && v.sizes()[rank - 3] != out.sizes()[rank - 3]) {
    const int64_t groups = v.sizes()[rank - 3];
    const int64_t heads = out.sizes()[rank - 3] / groups;
    left = with_groups(left, groups, heads);
    target = with_groups(target, groups, heads);
    v = with_groups(v, groups, heads);
  }
  multiply(context, left, v, target, {}, dropout_mask == nullptr ? 1.0 : 1 / (1 - dropout_p));
  copy_into(context, result, out);
  if (weights != nullptr) copy_into(context, kept, *weights);
}

void attention_kernel(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                      const Tensor* mask, double dropout_p, bool is_causal, std::optional<double> scale,
                      bool enable_gqa, Tensor& out) {
  if (dropout_p > 0 && value.element_count() > 0) {
    return compute_dropped(context, query, key, value, mask, dropout_p, is_causal, nullptr, scale, enable_gqa,
                           out, nullptr);
  }
  const bool fused = choose(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa) == 1;
  compute(context, query, key, value, mask, is_causal, scale, enable_gqa, {fused, &out});
}

template <typename N>
std::tuple<Info<N>, Info<N>> math_shape(const Info<N>& query, const Info<N>& key, const Info<N>& value,
                                        const Info<N>* mask, double, bool is_causal, const Info<N>*,
                                        std::optional<double>, bool enable_gqa) {
  check_inputs(query, key, value, mask);
  require(!is_causal || mask == nullptr,
          "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  return plain_infos(query, key, value, enable_gqa);
}

void math_kernel(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                 const Tensor* mask, double dropout_p, bool is_causal, const Tensor* dropout_mask,
                 std::optional<double> scale, bool enable_gqa, Tensor& out, Tensor& weights) {
  if (dropout_p > 0 && value.element_count() > 0) {
    return compute_dropped(context, query, key, value, mask, dropout_p, is_causal, dropout_mask, scale,
                           enable_gqa, out, &weights);
  }
  compute(context, query, key, value, mask, is_causal, scale, enable_gqa, {false, &out, &weights});
}

template <typename N>
std::tuple<Info<N>, Info<N>> flash_shape(const Info<N>& query, const Info<N>& key, const Info<N>& value,
                                         double dropout_p, bool, const Info<N>* mask, std::optional<double>) {
  check_inputs(query, key, value, mask);
  require(query.dim() == 4 && key.dim() == 4 && value.dim() == 4,
          "scaled_dot_product_attention_flash_attention: Accept only 4 dims inputs shape of {B, H, T, K}");
  require(mask == nullptr || mask->dim() == 2 || mask->dim() == 4,
          "scaled_dot_product_attention_flash_attention: Attention mask dim in {2, 4}");
  require(dropout_p == 0.0,
          "scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0");
  require(query.sizes[3] == value.sizes[3],
          "scaled_dot_product_attention_flash_attention: Q/K/V should have the same head size");
  const N heads = query.sizes[1];
  const N length = query.sizes[2];
  Info<N> log_sums{.dtype = query.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32,
                   .sizes = {query.sizes[0], heads, length},
                   .strides = {length * heads, 1, heads},
                   .device = query.device};
  return {fused_info(query), std::move(log_sums)};
}

void flash_kernel(Context& context, const Tensor& query, const Tensor& key, const Tensor& value, double,
                  bool is_causal, const Tensor* mask, std::optional<double> scale, Tensor& out,
                  Tensor& log_sums) {
  const bool is_grouped = query.sizes()[1] != key.sizes()[1];
  compute(context, query, key, value, mask, is_causal, scale, is_grouped, {true, &out, nullptr, &log_sums});
}

// ---- as products and softmax

// A mask of truths as one to add: 0 where it holds, -inf elsewhere.
Tensor additive_mask(Context& c, const Tensor& mask, const Tensor& query) {
  if (mask.dtype() != DType::kBool) return mask;
  const Tensor infinity = call_with(c, "aten::scalar_tensor", {-std::numeric_limits<double>::infinity()},
                                    {{"dtype", query.dtype()}, {"device", query.device()}});
  return parts::where(c, mask, parts::scalar(c, 0.0, query), infinity);
}

Tensor repeated_heads(Context& c, const Tensor& tensor, const Tensor& query) {
  const SymInt times = floor_div(size_of(query, -3), size_of(tensor, -3));
  return call(c, "aten::repeat_interleave.self_int", tensor, times, -3);
}

// What the flash kernel of a CPU takes, whose decomposition also lays the result out as that kernel would.
bool is_flash(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
              double dropout_p, bool enable_gqa) {
  if (!is_attended(query.dtype()) || enable_gqa || dropout_p != 0) return false;
  for (const Tensor* const tensor : {&query, &key, &value}) {
    if (rank_of(*tensor) != 4 || !(symbolic_info(*tensor).strides[3] == SymInt(1))) return false;
    const SymInt width = size_of(*tensor, 3);
    if (!width.is_literal() || !is_literally(size_of(query, 3), width.literal())) return false;
  }
  if (mask == nullptr) return true;
  return (rank_of(*mask) == 2 || rank_of(*mask) == 4) && !mask->requires_grad();
}

Tensor attention_parts(Context& c, const Tensor& query, const Tensor& given_key, const Tensor& given_value,
                       const Tensor* given_mask, double dropout_p, bool is_causal,
                       std::optional<double> given_scale, bool enable_gqa) {
  Tensor key = given_key;
  Tensor value = given_value;
  const double scale =
      given_scale ? *given_scale : 1.0 / std::sqrt(static_cast<double>(fixed(size_of(query, -1))));
  const double root = std::sqrt(scale);
  Tensor mask;
  if (given_mask != nullptr) mask = additive_mask(c, *given_mask, query);
  const Tensor scaled = call(c, "aten::mul.Scalar", query, scale < 0 ? -std::sqrt(-scale) : root);
  if (is_causal) {
    const Tensor all = call_with(c, "aten::ones", {SymIntList{size_of(query, -2), size_of(key, -2)}},
                                 {{"dtype", DType::kBool},
                                  {"layout", Layout::kStrided},
                                  {"device", query.device()},
                                  {"pin_memory", false}});
    mask = additive_mask(c, call(c, "aten::tril", all), query);
  }
  if (enable_gqa) {
    key = repeated_heads(c, key, query);
    value = repeated_heads(c, value, query);
  }
  const Tensor turned = call(c, "aten::transpose.int", key, -2, -1);
  Tensor weights = call(c, "aten::matmul", scaled, call(c, "aten::mul.Scalar", turned, root));
  if (mask.defined()) weights = parts::add(c, weights, mask);
  weights = call(c, "aten::_safe_softmax", weights, -1);
  if (dropout_p > 0) weights = call(c, "aten::dropout", weights, dropout_p, true);
  Tensor output = call(c, "aten::matmul", weights, value);
  if (!is_flash(query, given_key, given_value, given_mask, dropout_p, enable_gqa)) return output;
  const Tensor packed = parts::packed(c, call(c, "aten::permute", output, Dims{2, 0, 1, 3}));
  return call(c, "aten::permute", packed, Dims{1, 2, 0, 3});
}

// Scores and their weighted sum.
uint64_t attention_work(const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value) {
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2 || query.sizes().back() == 0) return 0;
  const int64_t width = query.sizes().back();
  const int64_t scores = query.element_count() / width * key.sizes()[key.dim() - 2];
  return static_cast<uint64_t>(2 * scores * (width + value.sizes().back()));
}

}  // namespace

void define_attention(Library& library) {
  library
      .define(
          "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
          "attn_mask=None, "
          "float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor")
      .shape<attention_shape<Size>, attention_shape<SymInt>>()
      .kernel<attention_kernel>()
      .composite<attention_parts>()
      .work<attention_work>();
  library
      .define(
          "aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? "
          "attn_mask=None, float dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? "
          "scale=None, bool enable_gqa=False) -> (Tensor, Tensor)")
      .shape<math_shape<Size>, math_shape<SymInt>>()
      .kernel<math_kernel>()
      .work<attention_work>();
  library
      .define(
          "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float "
          "dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor "
          "output, Tensor logsumexp)")
      .shape<flash_shape<Size>, flash_shape<SymInt>>()
      .kernel<flash_kernel>()
      .work<attention_work>();
  library
      .define(
          "aten::_fused_sdp_choice(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
          "dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> int")
      .function<choose>();
}

}  // namespace flambeau::ops
