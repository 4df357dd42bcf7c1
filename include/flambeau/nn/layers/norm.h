// Normalization: torch.nn.modules.batchnorm, instancenorm and normalization.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flambeau/nn/layer.h"

namespace flambeau::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  // Nothing: a plain average over all batches. It reads how many there were while it runs in training, which
  // cannot be traced.
  std::optional<double> momentum = 0.1;
  bool affine = true;
  bool track_running_stats = true;
};

// What batch and instance normalization have: a scale and a shift, and running statistics.
template <typename Derived>
class RunningNorm : public Layer<Derived> {
 public:
  Tensor weight, bias;
  Tensor running_mean, running_var, num_batches_tracked;

 protected:
  RunningNorm(int64_t num_features, const BatchNormOptions& options);
  int64_t num_features_;
  BatchNormOptions options_;
};

template <size_t N>
class BatchNorm : public RunningNorm<BatchNorm<N>> {
 public:
  explicit BatchNorm(int64_t num_features, const BatchNormOptions& options = {});
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override;

 private:
  // Counts the batch; gives the share of this one in the running statistics.
  double count_batch();
};
using BatchNorm1d = BatchNorm<1>;  // of [N, C] or [N, C, L]
using BatchNorm2d = BatchNorm<2>;
using BatchNorm3d = BatchNorm<3>;

template <size_t N>
class InstanceNorm : public RunningNorm<InstanceNorm<N>> {
 public:
  explicit InstanceNorm(int64_t num_features,
                        const BatchNormOptions& options = {.affine = false, .track_running_stats = false});
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override;
};
using InstanceNorm1d = InstanceNorm<1>;  // of [N, C, L], or [C, L]
using InstanceNorm2d = InstanceNorm<2>;
using InstanceNorm3d = InstanceNorm<3>;

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
};
class LayerNorm : public Layer<LayerNorm> {
 public:
  explicit LayerNorm(int64_t normalized_shape, LayerNormOptions options = {});
  explicit LayerNorm(const std::vector<int64_t>& normalized_shape, LayerNormOptions options = {});
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.normalization.LayerNorm"; }

  Tensor weight, bias;

 private:
  std::vector<int64_t> shape_;
  double eps_;
};

class GroupNorm : public Layer<GroupNorm> {
 public:
  GroupNorm(int64_t num_groups, int64_t num_channels, double eps = 1e-5, bool affine = true);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.normalization.GroupNorm"; }

  Tensor weight, bias;

 private:
  int64_t num_groups_;
  double eps_;
};

class RMSNorm : public Layer<RMSNorm> {
 public:
  // Without `eps`, the type's own.
  explicit RMSNorm(int64_t normalized_shape, std::optional<double> eps = {}, bool elementwise_affine = true);
  explicit RMSNorm(const std::vector<int64_t>& normalized_shape, std::optional<double> eps = {},
                   bool elementwise_affine = true);
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x);
  std::string class_name() const override { return "torch.nn.modules.normalization.RMSNorm"; }

  Tensor weight;

 private:
  std::vector<int64_t> shape_;
  std::optional<double> eps_;
};

class LocalResponseNorm : public Layer<LocalResponseNorm> {
 public:
  explicit LocalResponseNorm(int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1.0);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.normalization.LocalResponseNorm"; }

 private:
  int64_t size_;
  double alpha_, beta_, k_;
};

}  // namespace flambeau::nn
