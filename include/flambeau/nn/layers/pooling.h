// Pooling: torch.nn.modules.pooling.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/nn/extent.h"
#include "flambeau/nn/layer.h"

namespace flambeau::nn {

template <size_t N>
struct MaxPoolOptions {
  std::optional<Extent<N>> stride = {};  // nothing: the size of the kernel
  Extent<N> padding = 0;
  Extent<N> dilation = 1;
  bool ceil_mode = false;
};

template <size_t N>
class MaxPool : public Layer<MaxPool<N>> {
 public:
  explicit MaxPool(Extent<N> kernel_size, MaxPoolOptions<N> options = {})
      : kernel_size_(kernel_size), options_(options) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override;

 private:
  Extent<N> kernel_size_;
  MaxPoolOptions<N> options_;
};
using MaxPool1d = MaxPool<1>;
using MaxPool2d = MaxPool<2>;
using MaxPool3d = MaxPool<3>;

// The same with return_indices: the largest, and where in the input they were.
template <size_t N>
class MaxPoolWithIndices : public Layer<MaxPoolWithIndices<N>> {
 public:
  explicit MaxPoolWithIndices(Extent<N> kernel_size, MaxPoolOptions<N> options = {})
      : kernel_size_(kernel_size), options_(options) {}
  static constexpr std::array kArguments{"input"};
  std::pair<Tensor, Tensor> forward(const Tensor& input);
  std::string class_name() const override;

 private:
  Extent<N> kernel_size_;
  MaxPoolOptions<N> options_;
};

template <size_t N>
struct AvgPoolOptions {
  std::optional<Extent<N>> stride = {};  // nothing: the size of the kernel
  Extent<N> padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
  std::optional<int64_t> divisor_override = {};  // of two and three dimensions
};

template <size_t N>
class AvgPool : public Layer<AvgPool<N>> {
 public:
  explicit AvgPool(Extent<N> kernel_size, AvgPoolOptions<N> options = {})
      : kernel_size_(kernel_size), options_(options) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override;

 private:
  Extent<N> kernel_size_;
  AvgPoolOptions<N> options_;
};
using AvgPool1d = AvgPool<1>;
using AvgPool2d = AvgPool<2>;
using AvgPool3d = AvgPool<3>;

// The size of a result: a number for each dimension, or std::nullopt for the input's own.
template <size_t N>
class AdaptiveSize {
 public:
  AdaptiveSize(int64_t all) : sizes_(N, all) {}          // NOLINT(google-explicit-constructor)
  AdaptiveSize(int all) : AdaptiveSize(int64_t{all}) {}  // NOLINT
  AdaptiveSize(std::initializer_list<std::optional<int64_t>> sizes) : sizes_(sizes) {  // NOLINT
    if (sizes.size() != N) fail_extent(N, sizes.size());
  }
  const std::vector<std::optional<int64_t>>& sizes() const { return sizes_; }

 private:
  std::vector<std::optional<int64_t>> sizes_;
};

template <size_t N>
class AdaptiveAvgPool : public Layer<AdaptiveAvgPool<N>> {
 public:
  explicit AdaptiveAvgPool(AdaptiveSize<N> output_size) : output_size_(std::move(output_size)) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override;

 private:
  AdaptiveSize<N> output_size_;
};
using AdaptiveAvgPool1d = AdaptiveAvgPool<1>;
using AdaptiveAvgPool2d = AdaptiveAvgPool<2>;
using AdaptiveAvgPool3d = AdaptiveAvgPool<3>;

template <size_t N>
class AdaptiveMaxPool : public Layer<AdaptiveMaxPool<N>> {
 public:
  explicit AdaptiveMaxPool(AdaptiveSize<N> output_size) : output_size_(std::move(output_size)) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override;

 private:
  AdaptiveSize<N> output_size_;
};
using AdaptiveMaxPool1d = AdaptiveMaxPool<1>;
using AdaptiveMaxPool2d = AdaptiveMaxPool<2>;
using AdaptiveMaxPool3d = AdaptiveMaxPool<3>;

// The norm of what is under the kernel.
template <size_t N>
class LPPool : public Layer<LPPool<N>> {
 public:
  LPPool(double norm_type, Extent<N> kernel_size, std::optional<Extent<N>> stride = {},
         bool ceil_mode = false)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(stride), ceil_mode_(ceil_mode) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override;

 private:
  double norm_type_;
  Extent<N> kernel_size_;
  std::optional<Extent<N>> stride_;
  bool ceil_mode_;
};
using LPPool1d = LPPool<1>;
using LPPool2d = LPPool<2>;
using LPPool3d = LPPool<3>;

}  // namespace flambeau::nn
