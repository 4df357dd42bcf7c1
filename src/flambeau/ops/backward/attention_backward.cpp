// The gradient of attention: the weights computed again from what the forward pass kept, a few heads at a
// time.
#include <cmath>

#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {
namespace {

// As large as the argument, with the heads beside one another in memory.
template <typename N>
Info<N> by_heads(const Info<N>& like) {
  const ShortList<N>& s = like.sizes;
  return {.dtype = like.dtype,
          .sizes = s,
          .strides = {s[1] * s[2] * s[3], s[3], s[1] * s[3], N(1)},
          .device = like.device};
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> attention_gradient_shape(const Info<N>& gradient, const Info<N>& query,
                                                               const Info<N>& key, const Info<N>& value,
                                                               const Info<N>& out, const Info<N>& logsumexp,
                                                               double dropout, bool, const Info<N>* mask,
                                                               std::optional<double>) {
  const auto require_rank = [](const Info<N>& info) {
    require(info.dim() == 4, "attention_backward: expected tensors of batch, heads, length and features");
  };
  for (const Info<N>* const info : {&gradient, &query, &key, &value, &out}) require_rank(*info);
  require(dropout == 0, "attention_backward: dropout is not supported on CPU");
  require_same_sizes("attention_backward", gradient.sizes, out.sizes);
  require_same_sizes("attention_backward", value.sizes,
                     {query.sizes[0], query.sizes[1], key.sizes[2], out.sizes[3]});
  require_same_sizes("attention_backward", key.sizes,
                     {query.sizes[0], query.sizes[1], key.sizes[2], query.sizes[3]});
  require_same_sizes("attention_backward", out.sizes,
                     {query.sizes[0], query.sizes[1], query.sizes[2], out.sizes[3]});
  require_same_sizes("attention_backward", logsumexp.sizes, {query.sizes[0], query.sizes[1], query.sizes[2]});
  if (mask != nullptr) {
    const ShortList<N> scores{query.sizes[0], query.sizes[1], query.sizes[2], key.sizes[2]};
    require_same_sizes("attention_backward", broadcast(mask->sizes, scores), scores);
  }
  return {by_heads(query), by_heads(key), by_heads(value)};
}

// A row of the weights by their scores, and of the scores' gradient by that of the weights.
template <typename T>
void weights_row(T* scores, const T* mask, T sum, int64_t length, int64_t seen) {
  for (int64_t k = 0; k < seen; ++k) scores[k] += (mask == nullptr ? T(0) : mask[k]) - sum;
  kernels::vector_math::exp(scores, scores, static_cast<size_t>(seen));
  std::fill(scores + seen, scores + length, T(0));
}

template <typename T>
void run_attention_gradient(Context& context, const Tensor (&operands)[5], const Tensor& logsumexp,
                            const Tensor& mask, bool is_causal, double scale, const Tensor (&results)[3]) {
  const auto& [gradient, query, key, value, out] = operands;
  const DType wide = gradient.dtype();
  const int64_t heads = query.sizes()[0] * query.sizes()[1];
  const int64_t rows = query.sizes()[2], columns = key.sizes()[2], width = out.sizes()[3];
  constexpr int64_t kMostScores = int64_t{1} << 21;
  const int64_t together =
      std::clamp<int64_t>(kMostScores / std::max<int64_t>((Size(rows) * columns).value(), 1), 1, heads);
  const Dims sizes{together, rows, columns};
  const Tensor weights = context.allocate(wide, sizes), changes = context.allocate(wide, sizes);
  for (int64_t first = 0; first < heads; first += together) {
    const int64_t count = std::min(together, heads - first);
    // These heads of a packed tensor.
    const auto part = [&](const Tensor& tensor) {
      const int64_t length = tensor.sizes()[2], features = tensor.sizes()[3];
      return tensor.with_geometry({Dims{count, length, features}, Dims{length * features, features, 1},
                                   tensor.offset() + first * length * features});
    };
    const auto used = [&](const Tensor& tensor) {
      return tensor.with_geometry({Dims{count, rows, columns}, tensor.strides(), tensor.offset()});
    };
    const Tensor p = used(weights), d = used(changes);
    multiply(context, part(query), transposed(part(key)), p, {}, scale);
    multiply(context, part(gradient), transposed(part(value)), d);
    for_each_part(context, count * rows, columns * 8, [&](int64_t row) {
      const int64_t at = first * rows + row;
      T* const probability = weights.mutable_data<T>() + row * columns;
      T* const change = changes.mutable_data<T>() + row * columns;
      const int64_t seen = is_causal ? std::min(columns, row % rows + 1) : columns;
      weights_row<T>(probability, mask.defined() ? mask.data<T>() + at * columns : nullptr,
                     logsumexp.data<T>()[at], columns, seen);
      const T* const a = gradient.data<T>() + at * width;
      const T* const b = out.data<T>() + at * width;
      T sum = 0;
      for (int64_t k = 0; k < width; ++k) sum += a[k] * b[k];
      for (int64_t k = 0; k < columns; ++k) change[k] = probability[k] * (change[k] - sum);
    });
    multiply(context, d, part(key), part(results[0]), {}, scale);
    multiply(context, transposed(d), part(query), part(results[1]), {}, scale);
    multiply(context, transposed(p), part(gradient), part(results[2]));
  }
}

void attention_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& query,
                               const Tensor& key, const Tensor& value, const Tensor& out,
                               const Tensor& logsumexp, double, bool is_causal, const Tensor* mask,
                               std::optional<double> scale, Tensor& of_query, Tensor& of_key,
                               Tensor& of_value) {
  with_floats("flash_attention_backward", query.dtype(), [&]<typename T>(T, DType wide) {
    const auto as_wide = [&](const Tensor& tensor) { return packed_as(context, tensor, wide); };
    const Tensor operands[] = {as_wide(gradient), as_wide(query), as_wide(key), as_wide(value), as_wide(out)};
    const auto zeros = [&](const Tensor& like) {
      Tensor made = context.allocate(wide, like.sizes());
      fill(context, made, 0);
      return made;
    };
    const Tensor results[] = {zeros(query), zeros(key), zeros(value)};
    Tensor added;
    if (mask != nullptr) {
      added =
          context.allocate(wide, Dims{query.sizes()[0], query.sizes()[1], query.sizes()[2], key.sizes()[2]});
      copy_into(context, *mask, added);
    }
    const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.sizes()[3])));
    if (query.element_count() > 0 && key.element_count() > 0) {
      run_attention_gradient<T>(context, operands, as_wide(logsumexp), added, is_causal, factor, results);
    }
    copy_into(context, results[0], of_query);
    copy_into(context, results[1], of_key);
    copy_into(context, results[2], of_value);
  });
}

}  // namespace

void define_attention_backward(Library& library) {
  library
      .define(
          "aten::_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor "
          "key, Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? "
          "attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)")
      .shape<attention_gradient_shape<Size>, attention_gradient_shape<SymInt>>()
      .kernel<attention_gradient_kernel>();
}

}  // namespace flambeau::ops
