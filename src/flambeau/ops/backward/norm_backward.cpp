// Gradients of normalization over the last dimensions: layer norm and RMS norm.
#include <cmath>

#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

template <typename N>
void check_normalized_gradient(const Info<N>& gradient, const Info<N>& input, const ShortList<N>& normalized,
                               const Info<N>* weight) {
  require(!normalized.empty(), "Expected normalized_shape to be at least 1-dimensional");
  require(normalized.size() <= input.dim(), "normalized_shape has more dimensions than the input");
  ShortList<N> end;
  for (size_t d = input.dim() - normalized.size(); d < input.dim(); ++d) end.push_back(input.sizes[d]);
  require_same_sizes("layer_norm_backward", normalized, end);
  require_same_sizes("layer_norm_backward", gradient.sizes, input.sizes);
  if (weight != nullptr) require_same_sizes("layer_norm_backward", weight->sizes, normalized);
}

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> layer_norm_gradient_shape(const Info<N>& gradient, const Info<N>& input,
                                                                std::span<const N> normalized, const Info<N>&,
                                                                const Info<N>&, const Info<N>* weight,
                                                                const Info<N>* bias,
                                                                const std::vector<bool>& mask) {
  const ShortList<N> sizes(normalized);
  check_normalized_gradient(gradient, input, sizes, weight);
  const auto like = [&](const Info<N>* parameter) {
    return contiguous<N>(parameter == nullptr ? input.dtype : parameter->dtype, sizes, input.device);
  };
  return {asked(mask, 0, contiguous<N>(input.dtype, input.sizes, input.device)), asked(mask, 1, like(weight)),
          asked(mask, 2, like(bias == nullptr ? weight : bias))};
}
template <typename N>
std::tuple<Info<N>, Info<N>> rms_norm_gradient_shape(const Info<N>& gradient, const Info<N>& input,
                                                     std::span<const Size> normalized, const Info<N>&,
                                                     const Info<N>* weight, const std::vector<bool>& mask) {
  ShortList<N> sizes;
  for (const int64_t size : normalized) sizes.push_back(N(size));
  check_normalized_gradient(gradient, input, sizes, weight);
  Info<N> of_weight = contiguous<N>(weight == nullptr ? input.dtype : weight->dtype, sizes, input.device);
  of_weight = asked(mask, 1, std::move(of_weight));
  if (weight == nullptr) of_weight.is_absent = true;
  return {asked(mask, 0, contiguous<N>(input.dtype, input.sizes, input.device)), std::move(of_weight)};
}

// Of one row: the gradient of the input, and what it adds to those of weight and bias (null: not wanted).
template <bool kCentered, typename T>
void norm_gradient_row(const T* gradient, const T* x, const T* weight, T mean, T rstd, T* to, T* of_weight,
                       T* of_bias, int64_t count) {
  if (to != nullptr) {
    T sums[8] = {}, products[8] = {};
    const auto add = [&](int64_t i, int64_t k) {
      const T g = weight == nullptr ? gradient[i] : gradient[i] * weight[i];
      sums[k] += g;
      products[k] += g * (x[i] - mean);
    };
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
      for (int64_t k = 0; k < 8; ++k) add(i + k, k);
    }
    for (; i < count; ++i) add(i, i % 8);
    T sum = 0, product = 0;
    for (int64_t k = 0; k < 8; ++k) {
      sum += sums[k];
      product += products[k];
    }
    const T share = T(1) / static_cast<T>(count);
    const T slope = -product * rstd * rstd * rstd * share;
    const T shift = kCentered ? -sum * rstd * share : T(0);
    for (i = 0; i < count; ++i) {
      const T g = weight == nullptr ? gradient[i] : gradient[i] * weight[i];
      to[i] = rstd * g + slope * (x[i] - mean) + shift;
    }
  }
  if (of_weight != nullptr) {
    for (int64_t i = 0; i < count; ++i) of_weight[i] += gradient[i] * (x[i] - mean) * rstd;
  }
  if (of_bias != nullptr) {
    for (int64_t i = 0; i < count; ++i) of_bias[i] += gradient[i];
  }
}

struct NormGradients {
  Tensor of_input, of_weight, of_bias;  // undefined: not wanted
};

template <bool kCentered>
void run_norm_gradient(Context& context, const Tensor& gradient, const Tensor& input, int64_t count,
                       const Tensor* mean, const Tensor& rstd, const Tensor* weight,
                       const NormGradients& to) {
  with_floats("LayerNormBackwardKernelImpl", input.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor g = packed_as(context, gradient, wide);
    const Tensor x = packed_as(context, input, wide);
    const Tensor means = mean == nullptr ? Tensor() : packed_as(context, *mean, wide);
    const Tensor scales = packed_as(context, rstd, wide);
    const Tensor weights = weight == nullptr ? Tensor() : packed_as(context, *weight, wide);
    const int64_t rows = count == 0 ? 0 : x.element_count() / count;
    if (scales.element_count() != rows) fail_argument("layer_norm_backward: one rstd is needed for each row");
    if (mean != nullptr && means.element_count() != rows) {
      fail_argument("layer_norm_backward: one mean is needed for each row");
    }
    std::optional<PackedOutput> result;
    if (to.of_input.defined()) result.emplace(context, to.of_input, wide);
    T* const into = result ? result->template data<T>() : nullptr;
    // Rows are shared in as many parts as there are sums of their own.
    constexpr int64_t kParts = 8;
    const int64_t parts =
        std::clamp<int64_t>(rows * count / kGrain, 1, std::max<int64_t>(1, std::min(kParts, rows)));
    const Dims sums{parts, count};
    const auto make = [&](const Tensor& wanted) {
      if (!wanted.defined()) return Tensor();
      Tensor made = context.allocate(wide, sums);
      std::fill_n(made.mutable_data<T>(), made.element_count(), T(0));
      return made;
    };
    const Tensor weight_sums = make(to.of_weight);
    const Tensor bias_sums = make(to.of_bias);
    for_each_part(context, parts, kGrain, [&](int64_t part) {
      const auto at = [&](const Tensor& tensor) {
        return tensor.defined() ? tensor.mutable_data<T>() + part * count : nullptr;
      };
      WorkPoller poll;
      for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
        poll(static_cast<size_t>(count));
        const int64_t first = row * count;
        norm_gradient_row<kCentered, T>(
            g.data<T>() + first, x.data<T>() + first, weight == nullptr ? nullptr : weights.data<T>(),
            mean == nullptr ? T(0) : means.data<T>()[row], scales.data<T>()[row],
            into == nullptr ? nullptr : into + first, at(weight_sums), at(bias_sums), count);
      }
    });
    if (result) result->finish();
    const auto merge = [&](const Tensor& from, const Tensor& wanted) {
      if (!wanted.defined()) return;
      T* const sum = from.mutable_data<T>();
      for (int64_t part = 1; part < parts; ++part) {
        for (int64_t i = 0; i < count; ++i) sum[i] += sum[part * count + i];
      }
      copy_into(context, with_sizes(from, wanted.sizes()), wanted);
    };
    merge(weight_sums, to.of_weight);
    merge(bias_sums, to.of_bias);
  });
}

int64_t count_in(std::span<const Size> sizes) {
  Size count = 1;
  for (const Size size : sizes) count *= size;
  return count;
}

std::tuple<Value, Value, Value> layer_norm_gradient(Context& context, const Tensor& gradient,
                                                    const Tensor& input, std::span<const Size> normalized,
                                                    const Tensor& mean, const Tensor& rstd,
                                                    const Tensor* weight, const Tensor* bias,
                                                    const std::vector<bool>& mask) {
  require(mask.size() == 3, "output_mask should have three entries");
  const Info<Size> weight_info = weight == nullptr ? Info<Size>() : info_of(*weight);
  const Info<Size> bias_info = bias == nullptr ? Info<Size>() : info_of(*bias);
  const auto [of_input, of_weight, of_bias] = layer_norm_gradient_shape<Size>(
      info_of(gradient), info_of(input), normalized, info_of(mean), info_of(rstd),
      weight == nullptr ? nullptr : &weight_info, bias == nullptr ? nullptr : &bias_info, mask);
  NormGradients to;
  if (mask[0]) to.of_input = context.allocate(of_input);
  if (mask[1]) to.of_weight = context.allocate(of_weight);
  if (mask[2]) to.of_bias = context.allocate(of_bias);
  if (!input.is_meta()) {
    run_norm_gradient<true>(context, gradient, input, count_in(normalized), &mean, rstd, weight, to);
  }
  return {value_of(to.of_input), value_of(to.of_weight), value_of(to.of_bias)};
}

std::tuple<Value, Value> rms_norm_gradient(Context& context, const Tensor& gradient, const Tensor& input,
                                           std::span<const Size> normalized, const Tensor& rstd,
                                           const Tensor* weight, const std::vector<bool>& mask) {
  require(mask.size() == 2, "output_mask should have two entries");
  const Info<Size> weight_info = weight == nullptr ? Info<Size>() : info_of(*weight);
  const auto [of_input, of_weight] =
      rms_norm_gradient_shape<Size>(info_of(gradient), info_of(input), normalized, info_of(rstd),
                                    weight == nullptr ? nullptr : &weight_info, mask);
  NormGradients to;
  if (mask[0]) to.of_input = context.allocate(of_input);
  if (mask[1] && weight != nullptr) to.of_weight = context.allocate(of_weight);
  if (!input.is_meta()) {
    run_norm_gradient<false>(context, gradient, input, count_in(normalized), nullptr, rstd, weight, to);
  }
  return {value_of(to.of_input), value_of(to.of_weight)};
}

// ---- as other operators: the parts of layer norm and, without a mean, of RMS norm

struct NormParts {
  Value of_input, of_weight, of_bias;
};
NormParts norm_parts(Context& c, const Tensor& gradient, const Tensor& input, size_t dims, const Tensor* mean,
                     const Tensor& rstd, const Tensor* weight, bool wants_input, bool wants_weight,
                     bool wants_bias) {
  const int64_t rank = rank_of(input);
  const auto outer = static_cast<size_t>(rank) - dims;
  Dims inner_dims, outer_dims;
  SymInt count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    const bool is_inner = static_cast<size_t>(d) >= outer;
    (is_inner ? inner_dims : outer_dims).push_back(d);
    if (is_inner) count *= size_of(input, d);
  }
  const DType wide = compute_dtype(input.dtype());
  const Tensor g = parts::to_dtype(c, gradient, wide);
  const Tensor x = parts::to_dtype(c, input, wide);
  const Tensor scale = parts::to_dtype(c, rstd, wide);
  const Tensor moved = mean == nullptr ? x : parts::sub(c, x, parts::to_dtype(c, *mean, wide));
  const Tensor hat = parts::mul(c, moved, scale);
  const auto summed = [&](const Tensor& from, const DType dtype) -> Value {
    const Tensor sum = outer_dims.empty() ? from : call(c, "aten::sum.dim_IntList", from, outer_dims, false);
    return parts::to_dtype(c, sum, dtype);
  };
  const DType parameter = weight == nullptr ? input.dtype() : weight->dtype();
  NormParts result;
  if (wants_input) {
    const Tensor weighed = weight == nullptr ? g : parts::mul(c, g, parts::to_dtype(c, *weight, wide));
    const Tensor along = call(c, "aten::sum.dim_IntList", parts::mul(c, weighed, hat), inner_dims, true);
    Tensor inner = parts::sub(c, parts::mul(c, weighed, count), parts::mul(c, hat, along));
    if (mean != nullptr) {
      inner = parts::sub(c, inner, call(c, "aten::sum.dim_IntList", weighed, inner_dims, true));
    }
    const Tensor of_input = parts::mul(c, parts::div(c, scale, count), inner);
    result.of_input = parts::to_dtype(c, of_input, input.dtype());
  }
  if (wants_weight) result.of_weight = summed(parts::mul(c, g, hat), parameter);
  if (wants_bias) result.of_bias = summed(g, parameter);
  return result;
}
std::tuple<Value, Value, Value> layer_norm_gradient_parts(Context& c, const Tensor& gradient,
                                                          const Tensor& input,
                                                          std::span<const SymInt> normalized,
                                                          const Tensor& mean, const Tensor& rstd,
                                                          const Tensor* weight, const Tensor*,
                                                          const std::vector<bool>& mask) {
  NormParts made = norm_parts(c, gradient, input, normalized.size(), &mean, rstd, weight, mask.at(0),
                              mask.at(1), mask.at(2));
  return {made.of_input, made.of_weight, made.of_bias};
}
std::tuple<Value, Value> rms_norm_gradient_parts(Context& c, const Tensor& gradient, const Tensor& input,
                                                 std::span<const Size> normalized, const Tensor& rstd,
                                                 const Tensor* weight, const std::vector<bool>& mask) {
  NormParts made = norm_parts(c, gradient, input, normalized.size(), nullptr, rstd, weight, mask.at(0),
                              mask.at(1) && weight != nullptr, false);
  return {made.of_input, made.of_weight};
}

}  // namespace

void define_norm_backward(Library& library) {
  library
      .define(
          "aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor "
          "mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)")
      .shape<layer_norm_gradient_shape<Size>, layer_norm_gradient_shape<SymInt>>()
      .function<layer_norm_gradient>()
      .core_decomposition<layer_norm_gradient_parts>();
  library
      .define(
          "aten::_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor "
          "rstd, "
          "Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)")
      .shape<rms_norm_gradient_shape<Size>, rms_norm_gradient_shape<SymInt>>()
      .function<rms_norm_gradient>()
      .core_decomposition<rms_norm_gradient_parts>();
}

}  // namespace flambeau::ops
