#include "flambeau/nn/layers/norm.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/elementwise.h"
#include "flambeau/nn/functional/norm.h"
#include "flambeau/nn/functional/padding.h"
#include "flambeau/nn/functional/pooling.h"
#include "flambeau/nn/functional/shape.h"
#include "flambeau/nn/init.h"

namespace flambeau::nn {
namespace {

void check_dim(const Module& module, const Tensor& input, int64_t least, int64_t most) {
  const int64_t given = dim(input);
  if (given >= least && given <= most) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("{} takes an input of {} dimensions, not {}", short_class_name(module),
                  least == most ? fmt::format("{}", least) : fmt::format("{} or {}", least, most), given));
}

// PyTorch refuses to normalize a single number, and asks exactly this; a tracer remembers the answer.
void check_batch(const SymInt& first, const Tensor& input) {
  SymInt count = first;
  const SymIntList all = sizes(input);
  for (size_t d = 2; d < all.size(); ++d) count *= all[d];
  if (!(count == SymInt(1))) return;
  throw Error(ErrorCode::kInvalidArgument, "one value for each channel cannot be normalized",
              "give a larger batch, or call eval() first");
}

Sizes sizes_of(const std::vector<int64_t>& numbers) { return {numbers.begin(), numbers.end()}; }
Dims dims_of(const std::vector<int64_t>& numbers) { return std::span<const int64_t>(numbers); }

}  // namespace

template <typename Derived>
RunningNorm<Derived>::RunningNorm(int64_t num_features, const BatchNormOptions& options)
    : num_features_(num_features), options_(options) {
  if (options_.affine) {
    weight = init::ones({num_features});
    bias = init::zeros({num_features});
  }
  if (options_.track_running_stats) {
    running_mean = init::zeros({num_features});
    running_var = init::ones({num_features});
    num_batches_tracked = init::zeros({}, DType::kInt64);
  }
  this->add_parameter("weight", weight);
  this->add_parameter("bias", bias);
  this->add_buffer("running_mean", running_mean);
  this->add_buffer("running_var", running_var);
  this->add_buffer("num_batches_tracked", num_batches_tracked);
}

template <size_t N>
BatchNorm<N>::BatchNorm(int64_t num_features, const BatchNormOptions& options)
    : RunningNorm<BatchNorm<N>>(num_features, options) {}

template <size_t N>
double BatchNorm<N>::count_batch() {
  const std::optional<double>& momentum = this->options_.momentum;
  if (!this->is_training() || !this->options_.track_running_stats) return momentum.value_or(0);
  const Tensor count = add_(this->num_batches_tracked, 1);
  if (momentum) return *momentum;
  const std::vector<Value> number = call_values(std::source_location::current(), "aten::item", {count});
  if (number.at(0).template is<int64_t>())
    return 1.0 / static_cast<double>(number[0].template get<int64_t>());
  throw Error(ErrorCode::kUnsupported,
              "a batch normalization without momentum reads how many batches it has seen, which is not known "
              "while it is traced",
              "give it a momentum, or call eval() first");
}

template <size_t N>
Tensor BatchNorm<N>::forward(const Tensor& input) {
  check_dim(*this, input, N == 1 ? 2 : N + 2, N + 2);
  const double momentum = count_batch();
  const bool tracks = this->options_.track_running_stats;
  const bool uses_batch = this->is_training() || !tracks;
  if (uses_batch) check_batch(size(input, 0), input);
  return batch_norm(input, this->running_mean, this->running_var, this->weight, this->bias, uses_batch,
                    momentum, this->options_.eps);
}

template <size_t N>
std::string BatchNorm<N>::class_name() const {
  return fmt::format("torch.nn.modules.batchnorm.BatchNorm{}d", N);
}

template <size_t N>
InstanceNorm<N>::InstanceNorm(int64_t num_features, const BatchNormOptions& options)
    : RunningNorm<InstanceNorm<N>>(num_features, options) {}

template <size_t N>
Tensor InstanceNorm<N>::forward(const Tensor& input) {
  check_dim(*this, input, N + 1, N + 2);
  const bool is_single = dim(input) == N + 1;
  const bool fits = size(input, is_single ? 0 : 1) == SymInt(this->num_features_);
  if (!fits && this->options_.affine) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("InstanceNorm{}d is made for {} channels, and {} has another number of them", N,
                            this->num_features_, input.summary()));
  }
  const Tensor batch = is_single ? unsqueeze(input, 0) : input;
  const bool uses_input = this->is_training() || !this->options_.track_running_stats;
  if (uses_input) check_batch(1, batch);
  const Tensor result = instance_norm(batch, this->running_mean, this->running_var, this->weight, this->bias,
                                      uses_input, this->options_.momentum.value_or(0), this->options_.eps);
  return is_single ? squeeze(result, 0) : result;
}

template <size_t N>
std::string InstanceNorm<N>::class_name() const {
  return fmt::format("torch.nn.modules.instancenorm.InstanceNorm{}d", N);
}

template class BatchNorm<1>;
template class BatchNorm<2>;
template class BatchNorm<3>;
template class InstanceNorm<1>;
template class InstanceNorm<2>;
template class InstanceNorm<3>;

LayerNorm::LayerNorm(int64_t normalized_shape, LayerNormOptions options)
    : LayerNorm(std::vector<int64_t>{normalized_shape}, options) {}

LayerNorm::LayerNorm(const std::vector<int64_t>& normalized_shape, LayerNormOptions options)
    : shape_(normalized_shape), eps_(options.eps) {
  if (options.elementwise_affine) weight = init::ones(dims_of(shape_));
  if (options.elementwise_affine && options.bias) bias = init::zeros(dims_of(shape_));
  add_parameter("weight", weight);
  add_parameter("bias", bias);
}

Tensor LayerNorm::forward(const Tensor& input) {
  return layer_norm(input, sizes_of(shape_), weight, bias, eps_);
}

GroupNorm::GroupNorm(int64_t num_groups, int64_t num_channels, double eps, bool affine)
    : num_groups_(num_groups), eps_(eps) {
  if (num_groups <= 0 || num_channels % num_groups != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} channels cannot be divided into {} groups", num_channels, num_groups));
  }
  if (affine) {
    weight = init::ones({num_channels});
    bias = init::zeros({num_channels});
  }
  add_parameter("weight", weight);
  add_parameter("bias", bias);
}

Tensor GroupNorm::forward(const Tensor& input) {
  check_dim(*this, input, 2, 255);
  check_batch(size(input, 0) * size(input, 1) / num_groups_, input);
  return group_norm(input, num_groups_, weight, bias, eps_);
}

RMSNorm::RMSNorm(int64_t normalized_shape, std::optional<double> eps, bool elementwise_affine)
    : RMSNorm(std::vector<int64_t>{normalized_shape}, eps, elementwise_affine) {}

RMSNorm::RMSNorm(const std::vector<int64_t>& normalized_shape, std::optional<double> eps,
                 bool elementwise_affine)
    : shape_(normalized_shape), eps_(eps) {
  if (elementwise_affine) weight = init::ones(dims_of(shape_));
  add_parameter("weight", weight);
}

Tensor RMSNorm::forward(const Tensor& x) { return rms_norm(x, sizes_of(shape_), weight, eps_); }

LocalResponseNorm::LocalResponseNorm(int64_t size, double alpha, double beta, double k)
    : size_(size), alpha_(alpha), beta_(beta), k_(k) {}

Tensor LocalResponseNorm::forward(const Tensor& input) {
  check_dim(*this, input, 3, 255);
  const SymIntList all = sizes(input);
  Tensor scale = mul(input, input);
  if (all.size() == 3) {
    scale = pad(unsqueeze(scale, 1), {0, 0, size_ / 2, (size_ - 1) / 2});
    scale = squeeze(avg_pool2d(scale, {size_, 1}, 1), 1);
  } else {
    scale = pad(view(scale, {all[0], 1, all[1], all[2], -1}), {0, 0, 0, 0, size_ / 2, (size_ - 1) / 2});
    scale = view(squeeze(avg_pool3d(scale, {size_, 1, 1}, 1), 1), {all.begin(), all.end()});
  }
  return div(input, pow(add(mul(scale, alpha_), k_), beta_));
}

}  // namespace flambeau::nn
