// Gradients of normalization by channels: batch norm and group norm.
#include <cmath>

#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

// ---- batch norm

template <typename N>
void check_batch_norm_gradient(const Info<N>& gradient, const Info<N>& input) {
  require(input.dim() >= 2, "batch_norm_backward: expected an input of at least two dimensions");
  require_same_sizes("batch_norm_backward", gradient.sizes, input.sizes);
}
template <typename N>
Info<N> channel_info(const Info<N>& input, const Info<N>* weight) {
  return contiguous<N>(weight == nullptr ? compute_dtype(input.dtype) : weight->dtype, {input.sizes[1]},
                       input.device);
}
template <typename N>
Info<N> like_input(const Info<N>& input) {
  Info<N> info = contiguous<N>(input.dtype, input.sizes, input.device);
  if (suggested_format(input) != MemoryFormat::kContiguous) info.strides = channels_last_strides(info.sizes);
  return info;
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> batch_norm_gradient_shape(const Info<N>& gradient, const Info<N>& input,
                                                                const Info<N>* weight, const Info<N>*,
                                                                const Info<N>*, const Info<N>*,
                                                                const Info<N>*, bool, double,
                                                                const std::vector<bool>& mask) {
  check_batch_norm_gradient(gradient, input);
  return {asked(mask, 0, like_input(input)), asked(mask, 1, channel_info(input, weight)),
          asked(mask, 2, channel_info(input, weight))};
}

// One number for each channel, or nothing.
template <typename T>
std::vector<T> by_channel(Context& context, const Tensor* tensor, DType wide, int64_t channels,
                          std::string_view name) {
  if (tensor == nullptr) return {};
  if (tensor->element_count() != channels) {
    fail_argument(std::string(name) + " should contain " + std::to_string(channels) + " elements not " +
                  std::to_string(tensor->element_count()));
  }
  const Tensor packed = packed_as(context, *tensor, wide);
  return {packed.data<T>(), packed.data<T>() + channels};
}

// Sums of the gradient, and of it times what the input is more than the mean.
template <typename T>
std::pair<double, double> gradient_sums(const T* gradient, const T* x, T mean, int64_t count) {
  double sum = 0, product = 0;
  constexpr int64_t kBlock = 1024;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(count, begin + kBlock);
    T sums[8] = {}, products[8] = {};
    int64_t i = begin;
    for (; i + 8 <= end; i += 8) {
      for (int64_t k = 0; k < 8; ++k) {
        sums[k] += gradient[i + k];
        products[k] += gradient[i + k] * (x[i + k] - mean);
      }
    }
    for (; i < end; ++i) {
      sums[0] += gradient[i];
      products[0] += gradient[i] * (x[i] - mean);
    }
    for (int64_t k = 0; k < 8; ++k) {
      sum += static_cast<double>(sums[k]);
      product += static_cast<double>(products[k]);
    }
  }
  return {sum, product};
}

struct Statistics {
  const Tensor* weight;
  const Tensor* mean;
  const Tensor* scale;  // 1 / deviation, or the variance
  bool is_variance;
  double epsilon;
};

void run_batch_norm_gradient(Context& context, const Tensor& gradient, const Tensor& input,
                             const Statistics& given, bool train, const Tensor& of_input,
                             const Tensor& of_weight, const Tensor& of_bias) {
  with_floats("batch_norm_backward_cpu", input.dtype(), [&]<typename T>(T, DType wide) {
    const int64_t channels = input.sizes()[1];
    const int64_t inner = product_of(input.sizes(), 2, input.dim());
    const int64_t batch = input.sizes()[0];
    const std::vector<T> weights = by_channel<T>(context, given.weight, wide, channels, "weight");
    const std::vector<T> means = by_channel<T>(context, given.mean, wide, channels, "mean");
    std::vector<T> scales = by_channel<T>(context, given.scale, wide, channels, "invstd");
    require((!means.empty() && !scales.empty()) || channels == 0,
            "batch_norm_backward: a mean and a deviation are needed");
    if (given.is_variance) {
      for (T& scale : scales) scale = T(1) / std::sqrt(scale + static_cast<T>(given.epsilon));
    }
    const Tensor g = packed_as(context, gradient, wide);
    const Tensor x = packed_as(context, input, wide);
    std::optional<PackedOutput> result;
    if (of_input.defined()) result.emplace(context, of_input, wide);
    T* const into = result ? result->template data<T>() : nullptr;
    ScratchVector<T> weight_sums(static_cast<size_t>(channels)), bias_sums(static_cast<size_t>(channels));
    const auto count = static_cast<double>(batch * inner);
    for_each_part(context, channels, batch * inner * 4, [&](int64_t channel) {
      const auto c = static_cast<size_t>(channel);
      double sum = 0, product = 0;
      for (int64_t n = 0; n < batch; ++n) {
        const int64_t at = (n * channels + channel) * inner;
        const auto [more, products] = gradient_sums(g.data<T>() + at, x.data<T>() + at, means[c], inner);
        sum += more;
        product += products;
      }
      weight_sums[c] = static_cast<T>(product * static_cast<double>(scales[c]));
      bias_sums[c] = static_cast<T>(sum);
      if (into == nullptr) return;
      const T factor = scales[c] * (weights.empty() ? T(1) : weights[c]);
      const T shift = train ? static_cast<T>(sum / count) : T(0);
      const double scale = static_cast<double>(scales[c]);
      const T slope = train ? static_cast<T>(product * scale * scale / count) : T(0);
      for (int64_t n = 0; n < batch; ++n) {
        const int64_t at = (n * channels + channel) * inner;
        const T* const from = g.data<T>() + at;
        const T* const of = x.data<T>() + at;
        T* const to = into + at;
        for (int64_t i = 0; i < inner; ++i) to[i] = (from[i] - shift - (of[i] - means[c]) * slope) * factor;
      }
    });
    if (result) result->finish();
    const auto store = [&](const ScratchVector<T>& from, const Tensor& wanted) {
      if (!wanted.defined()) return;
      store_packed(wide, from.data(), from.size(), wanted.dtype(), wanted.mutable_data(),
                   static_cast<int64_t>(wanted.element_size()));
    };
    store(weight_sums, of_weight);
    store(bias_sums, of_bias);
  });
}

std::tuple<Value, Value, Value> batch_norm_gradient(Context& context, const Tensor& gradient,
                                                    const Tensor& input, const Tensor* weight,
                                                    const Tensor* running_mean, const Tensor* running_var,
                                                    const Tensor* save_mean, const Tensor* save_invstd,
                                                    bool train, double eps, const std::vector<bool>& mask) {
  require(mask.size() == 3, "output_mask should have three entries");
  check_batch_norm_gradient(info_of(gradient), info_of(input));
  const Info<Size> weight_info = weight == nullptr ? Info<Size>() : info_of(*weight);
  const Info<Size> parameter = channel_info(info_of(input), weight == nullptr ? nullptr : &weight_info);
  Tensor of_input, of_weight, of_bias;
  if (mask[0]) of_input = context.allocate(like_input(info_of(input)));
  if (mask[1]) of_weight = context.allocate(parameter);
  if (mask[2]) of_bias = context.allocate(parameter);
  const Statistics statistics{weight, train ? save_mean : running_mean, train ? save_invstd : running_var,
                              !train, eps};
  if (!input.is_meta()) {
    run_batch_norm_gradient(context, gradient, input, statistics, train, of_input, of_weight, of_bias);
  }
  return {value_of(of_input), value_of(of_weight), value_of(of_bias)};
}
// The form with a reserve, which holds nothing here.
std::tuple<Value, Value, Value> reserved_batch_norm_gradient(
    Context& context, const Tensor& gradient, const Tensor& input, const Tensor& weight,
    const Tensor* running_mean, const Tensor* running_var, const Tensor* save_mean, const Tensor* save_var,
    bool update, double eps, const std::vector<bool>& mask, const Tensor&) {
  return batch_norm_gradient(context, gradient, input, &weight, running_mean, running_var, save_mean,
                             save_var, update, eps, mask);
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> reserved_batch_norm_shape(
    const Info<N>& gradient, const Info<N>& input, const Info<N>& weight, const Info<N>*, const Info<N>*,
    const Info<N>*, const Info<N>*, bool, double, const std::vector<bool>& mask, const Info<N>&) {
  check_batch_norm_gradient(gradient, input);
  return {asked(mask, 0, like_input(input)), asked(mask, 1, channel_info(input, &weight)),
          asked(mask, 2, channel_info(input, &weight))};
}

std::tuple<Value, Value, Value> batch_norm_gradient_parts(Context& c, const Tensor& gradient,
                                                          const Tensor& input, const Tensor* weight,
                                                          const Tensor* running_mean,
                                                          const Tensor* running_var, const Tensor* save_mean,
                                                          const Tensor* save_invstd, bool train, double eps,
                                                          const std::vector<bool>& mask) {
  const DType wide = compute_dtype(input.dtype());
  const Tensor g = parts::to_dtype(c, gradient, wide);
  const Tensor x = parts::to_dtype(c, input, wide);
  SymIntList across(static_cast<size_t>(rank_of(input)), SymInt(1));
  across[1] = size_of(input, 1);
  Dims others{0};
  for (int64_t d = 2; d < rank_of(input); ++d) others.push_back(d);
  const auto along = [&](const Tensor& tensor) { return call(c, "aten::view", tensor, across); };
  require((train ? save_mean : running_mean) != nullptr && (train ? save_invstd : running_var) != nullptr,
          "batch_norm_backward: a mean and a deviation are needed");
  const Tensor mean = parts::to_dtype(c, train ? *save_mean : *running_mean, wide);
  const Tensor scale =
      train ? parts::to_dtype(c, *save_invstd, wide)
            : call(c, "aten::rsqrt", parts::add(c, parts::to_dtype(c, *running_var, wide), eps));
  const Tensor moved = parts::sub(c, x, along(mean));
  const Tensor sum = call(c, "aten::sum.dim_IntList", g, others, false);
  const Tensor product = call(c, "aten::sum.dim_IntList", parts::mul(c, g, moved), others, false);
  Value of_input, of_weight, of_bias;
  if (mask.at(0)) {
    Tensor inner = g;
    if (train) {
      const SymInt count = floor_div(count_of(input), size_of(input, 1));
      const Tensor shift = along(parts::div(c, sum, count));
      const Tensor slope = parts::mul(c, parts::div(c, product, count), parts::mul(c, scale, scale));
      inner = parts::sub(c, parts::sub(c, g, parts::mul(c, moved, along(slope))), shift);
    }
    const Tensor factor = weight == nullptr ? scale : parts::mul(c, scale, parts::to_dtype(c, *weight, wide));
    of_input = parts::to_dtype(c, parts::mul(c, inner, along(factor)), input.dtype());
  }
  const DType parameter = weight == nullptr ? wide : weight->dtype();
  if (mask.at(1)) of_weight = parts::to_dtype(c, parts::mul(c, product, scale), parameter);
  if (mask.at(2)) of_bias = parts::to_dtype(c, sum, parameter);
  return {of_input, of_weight, of_bias};
}

// ---- group norm

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> group_norm_gradient_shape(const Info<N>& gradient, const Info<N>& input,
                                                                const Info<N>& mean, const Info<N>& rstd,
                                                                const Info<N>* weight, N batch, N channels,
                                                                N inner, Size groups,
                                                                const std::vector<bool>& mask) {
  require_same_sizes("group_norm_backward", gradient.sizes, input.sizes);
  if (!(input.element_count() == batch * channels * inner)) {
    fail_argument("Expected input to have " + number_text(batch * channels * inner) + " elements, but got " +
                  number_text(input.element_count()));
  }
  require(groups > 0, "group_norm_backward: expected at least one group");
  require(!(batch < N(0)) && !(channels < N(0)) && !(inner < N(0)), "group_norm_backward: negative size");
  if (!(modulo(channels, N(groups)) == N(0))) {
    fail_argument("Expected number of channels " + number_text(channels) +
                  " to be evenly divisible by number of groups " + std::to_string(int64_t{groups}));
  }
  for (const Info<N>* const statistic : {&mean, &rstd}) {
    if (!(statistic->element_count() == batch * N(groups))) {
      fail_argument("group_norm_backward: expected a mean and an rstd for each group of each image");
    }
  }
  if (weight != nullptr && !(weight->element_count() == channels)) {
    fail_argument("Expected weight to have " + number_text(channels) + " elements, but got " +
                  number_text(weight->element_count()));
  }
  const Info<N> parameter =
      contiguous<N>(weight == nullptr ? input.dtype : weight->dtype, {channels}, input.device);
  return {asked(mask, 0, like_input(input)), asked(mask, 1, parameter), asked(mask, 2, parameter)};
}

void run_group_norm_gradient(Context& context, const Tensor& gradient, const Tensor& input,
                             const Tensor& mean, const Tensor& rstd, const Tensor* weight, int64_t batch,
                             int64_t channels, int64_t inner, int64_t groups, const Tensor& of_input,
                             const Tensor& of_weight, const Tensor& of_bias) {
  with_floats("GroupNormBackwardKernelImpl", input.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor g = packed_as(context, gradient, wide);
    const Tensor x = packed_as(context, input, wide);
    const Tensor means = packed_as(context, mean, wide);
    const Tensor scales = packed_as(context, rstd, wide);
    const std::vector<T> weights = by_channel<T>(context, weight, wide, channels, "weight");
    std::optional<PackedOutput> result;
    if (of_input.defined()) result.emplace(context, of_input, wide);
    T* const into = result ? result->template data<T>() : nullptr;
    const auto count = static_cast<size_t>(batch * channels);
    // Of each image and channel: the sum of the gradient, and of it times the normalized input.
    ScratchVector<double> sums(count), products(count);
    const int64_t members = channels / groups;
    for_each_part(context, batch * groups, members * inner * 4, [&](int64_t part) {
      const T middle = means.data<T>()[part];
      const T scale = scales.data<T>()[part];
      double sum = 0, product = 0;
      const int64_t first = part / groups * channels + part % groups * members;
      for (int64_t i = 0; i < members; ++i) {
        const auto at = static_cast<size_t>(first + i);
        const int64_t from = (first + i) * inner;
        std::tie(sums[at], products[at]) =
            gradient_sums(g.data<T>() + from, x.data<T>() + from, middle, inner);
        const double factor =
            weights.empty() ? 1
                            : static_cast<double>(weights[static_cast<size_t>(part % groups * members + i)]);
        sum += sums[at] * factor;
        product += products[at] * factor;
        products[at] *= static_cast<double>(scale);
      }
      if (into == nullptr) return;
      const double share = 1 / static_cast<double>(members * inner);
      const double wide_scale = static_cast<double>(scale);
      const T slope = static_cast<T>(-product * wide_scale * wide_scale * wide_scale * share);
      const T shift = static_cast<T>(-sum * wide_scale * share);
      for (int64_t i = 0; i < members; ++i) {
        const int64_t from = (first + i) * inner;
        const T factor =
            scale * (weights.empty() ? T(1) : weights[static_cast<size_t>(part % groups * members + i)]);
        const T* const of = x.data<T>() + from;
        const T* const by = g.data<T>() + from;
        for (int64_t k = 0; k < inner; ++k)
          into[from + k] = by[k] * factor + (of[k] - middle) * slope + shift;
      }
    });
    if (result) result->finish();
    const auto store = [&](const ScratchVector<double>& from, const Tensor& wanted) {
      if (!wanted.defined()) return;
      ScratchVector<double> total(static_cast<size_t>(channels), 0.0);
      for (size_t i = 0; i < count; ++i) total[i % static_cast<size_t>(channels)] += from[i];
      store_packed(DType::kFloat64, total.data(), total.size(), wanted.dtype(), wanted.mutable_data(),
                   static_cast<int64_t>(wanted.element_size()));
    };
    store(products, of_weight);
    store(sums, of_bias);
  });
}

std::tuple<Value, Value, Value> group_norm_gradient(Context& context, const Tensor& gradient,
                                                    const Tensor& input, const Tensor& mean,
                                                    const Tensor& rstd, const Tensor* weight, Size batch,
                                                    Size channels, Size inner, Size groups,
                                                    const std::vector<bool>& mask) {
  require(mask.size() == 3, "output_mask should have three entries");
  const Info<Size> weight_info = weight == nullptr ? Info<Size>() : info_of(*weight);
  const auto [input_info, parameter, same] = group_norm_gradient_shape<Size>(
      info_of(gradient), info_of(input), info_of(mean), info_of(rstd),
      weight == nullptr ? nullptr : &weight_info, batch, channels, inner, groups, mask);
  Tensor of_input, of_weight, of_bias;
  if (mask[0]) of_input = context.allocate(input_info);
  if (mask[1]) of_weight = context.allocate(parameter);
  if (mask[2]) of_bias = context.allocate(parameter);
  if (!input.is_meta()) {
    run_group_norm_gradient(context, gradient, input, mean, rstd, weight, batch, channels, inner, groups,
                            of_input, of_weight, of_bias);
  }
  return {value_of(of_input), value_of(of_weight), value_of(of_bias)};
}

std::tuple<Value, Value, Value> group_norm_gradient_parts(Context& c, const Tensor& gradient,
                                                          const Tensor& input, const Tensor& mean,
                                                          const Tensor& rstd, const Tensor* weight,
                                                          SymInt batch, SymInt channels, SymInt inner,
                                                          Size groups, const std::vector<bool>& mask) {
  const DType wide = compute_dtype(input.dtype());
  const SymInt members = floor_div(channels, SymInt(groups));
  const SymIntList grouped{batch, SymInt(groups), members, inner};
  const SymIntList by_group{batch, SymInt(groups), SymInt(1), SymInt(1)};
  const auto seen = [&](const Tensor& tensor, const SymIntList& sizes) {
    return call(c, "aten::reshape", parts::to_dtype(c, tensor, wide), sizes);
  };
  const Tensor g = seen(gradient, grouped);
  const Tensor scale = seen(rstd, by_group);
  const Tensor hat = parts::mul(c, parts::sub(c, seen(input, grouped), seen(mean, by_group)), scale);
  Value of_input, of_weight, of_bias;
  if (mask.at(0)) {
    const SymIntList by_member{SymInt(1), SymInt(groups), members, SymInt(1)};
    const Tensor weighed = weight == nullptr ? g : parts::mul(c, g, seen(*weight, by_member));
    const auto meaned = [&](const Tensor& tensor) {
      return call(c, "aten::mean.dim", tensor, Dims{2, 3}, true);
    };
    const Tensor rest = parts::sub(c, parts::sub(c, weighed, meaned(weighed)),
                                   parts::mul(c, hat, meaned(parts::mul(c, weighed, hat))));
    const Tensor whole = call(c, "aten::view", parts::mul(c, rest, scale), sizes_of(input));
    of_input = parts::to_dtype(c, whole, input.dtype());
  }
  const DType parameter = weight == nullptr ? input.dtype() : weight->dtype();
  const auto summed = [&](const Tensor& tensor) {
    const Tensor sum = call(c, "aten::sum.dim_IntList", tensor, Dims{0, 3}, false);
    return parts::to_dtype(c, call(c, "aten::view", sum, SymIntList{channels}), parameter);
  };
  if (mask.at(1)) of_weight = summed(parts::mul(c, g, hat));
  if (mask.at(2)) of_bias = summed(g);
  return {of_input, of_weight, of_bias};
}

}  // namespace

void define_channel_norm_backward(Library& library) {
  library
      .define(
          "aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? "
          "running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, "
          "bool[3] output_mask) -> (Tensor, Tensor, Tensor)")
      .shape<batch_norm_gradient_shape<Size>, batch_norm_gradient_shape<SymInt>>()
      .function<batch_norm_gradient>()
      .core_decomposition<batch_norm_gradient_parts>();
  library
      .define(
          "aten::batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, "
          "Tensor? running_var, Tensor? save_mean, Tensor? save_var, bool update, float eps, bool[3] "
          "output_mask, Tensor reserve) -> (Tensor, Tensor, Tensor)")
      .shape<reserved_batch_norm_shape<Size>, reserved_batch_norm_shape<SymInt>>()
      .function<reserved_batch_norm_gradient>();
  library
      .define(
          "aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? "
          "weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, "
          "Tensor)")
      .shape<group_norm_gradient_shape<Size>, group_norm_gradient_shape<SymInt>>()
      .function<group_norm_gradient>()
      .core_decomposition<group_norm_gradient_parts>();
}

}  // namespace flambeau::ops
