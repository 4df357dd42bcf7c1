#include "flambeau/nn/layers/pooling.h"

#include <fmt/format.h>

#include "flambeau/nn/functional/activation.h"
#include "flambeau/nn/functional/elementwise.h"
#include "flambeau/nn/functional/pooling.h"

namespace flambeau::nn {
namespace {

template <size_t N>
std::string pooling_class(std::string_view name) {
  return fmt::format("torch.nn.modules.pooling.{}{}d", name, N);
}

template <size_t N>
Sizes sizes_for(const Tensor& input, const AdaptiveSize<N>& wanted) {
  Sizes sizes;
  for (size_t d = 0; d < N; ++d) {
    const std::optional<int64_t>& number = wanted.sizes()[d];
    sizes.push_back(number ? SymInt(*number)
                           : size(input, static_cast<int64_t>(d) - static_cast<int64_t>(N)));
  }
  return sizes;
}

template <size_t N>
Tensor average(const Tensor& x, const Extent<N>& kernel_size, const AvgPoolOptions<N>& o) {
  if constexpr (N == 1) {
    return avg_pool1d(x, kernel_size, o.stride, o.padding, o.ceil_mode, o.count_include_pad);
  } else if constexpr (N == 2) {
    return avg_pool2d(x, kernel_size, o.stride, o.padding, o.ceil_mode, o.count_include_pad,
                      o.divisor_override);
  } else {
    return avg_pool3d(x, kernel_size, o.stride, o.padding, o.ceil_mode, o.count_include_pad,
                      o.divisor_override);
  }
}

}  // namespace

template <size_t N>
Tensor MaxPool<N>::forward(const Tensor& input) {
  const MaxPoolOptions<N>& o = options_;
  const Extent<N> stride = o.stride.value_or(kernel_size_);
  if constexpr (N == 1) {
    return max_pool1d(input, kernel_size_, stride, o.padding, o.dilation, o.ceil_mode);
  } else if constexpr (N == 2) {
    return max_pool2d(input, kernel_size_, stride, o.padding, o.dilation, o.ceil_mode);
  } else {
    return max_pool3d(input, kernel_size_, stride, o.padding, o.dilation, o.ceil_mode);
  }
}
template <size_t N>
std::string MaxPool<N>::class_name() const {
  return pooling_class<N>("MaxPool");
}

template <size_t N>
std::pair<Tensor, Tensor> MaxPoolWithIndices<N>::forward(const Tensor& input) {
  const MaxPoolOptions<N>& o = options_;
  const Extent<N> stride = o.stride.value_or(kernel_size_);
  if constexpr (N == 1) {
    return max_pool1d_with_indices(input, kernel_size_, stride, o.padding, o.dilation, o.ceil_mode);
  } else if constexpr (N == 2) {
    return max_pool2d_with_indices(input, kernel_size_, stride, o.padding, o.dilation, o.ceil_mode);
  } else {
    return max_pool3d_with_indices(input, kernel_size_, stride, o.padding, o.dilation, o.ceil_mode);
  }
}
template <size_t N>
std::string MaxPoolWithIndices<N>::class_name() const {
  return pooling_class<N>("MaxPool");
}

template <size_t N>
Tensor AvgPool<N>::forward(const Tensor& input) {
  AvgPoolOptions<N> options = options_;
  options.stride = options_.stride.value_or(kernel_size_);
  return average(input, kernel_size_, options);
}
template <size_t N>
std::string AvgPool<N>::class_name() const {
  return pooling_class<N>("AvgPool");
}

template <size_t N>
Tensor AdaptiveAvgPool<N>::forward(const Tensor& input) {
  const Sizes sizes = sizes_for(input, output_size_);
  if constexpr (N == 1) {
    return adaptive_avg_pool1d(input, sizes);
  } else if constexpr (N == 2) {
    return adaptive_avg_pool2d(input, sizes);
  } else {
    return adaptive_avg_pool3d(input, sizes);
  }
}
template <size_t N>
std::string AdaptiveAvgPool<N>::class_name() const {
  return pooling_class<N>("AdaptiveAvgPool");
}

template <size_t N>
Tensor AdaptiveMaxPool<N>::forward(const Tensor& input) {
  const Sizes sizes = sizes_for(input, output_size_);
  if constexpr (N == 1) {
    return adaptive_max_pool1d(input, sizes).first;
  } else if constexpr (N == 2) {
    return adaptive_max_pool2d(input, sizes).first;
  } else {
    return adaptive_max_pool3d(input, sizes).first;
  }
}
template <size_t N>
std::string AdaptiveMaxPool<N>::class_name() const {
  return pooling_class<N>("AdaptiveMaxPool");
}

template <size_t N>
Tensor LPPool<N>::forward(const Tensor& input) {
  const AvgPoolOptions<N> options{.stride = stride_, .ceil_mode = ceil_mode_};
  const Tensor mean = average(pow(input, norm_type_), kernel_size_, options);
  int64_t count = 1;
  for (const int64_t size : kernel_size_) count *= size;
  const Tensor direction = sign(mean);
  return pow(mul(mul(direction, relu(abs(mean))), count), 1.0 / norm_type_);
}
template <size_t N>
std::string LPPool<N>::class_name() const {
  return pooling_class<N>("LPPool");
}

#define FLAMBEAU_POOLING(N)             \
  template class MaxPool<N>;            \
  template class MaxPoolWithIndices<N>; \
  template class AvgPool<N>;            \
  template class AdaptiveAvgPool<N>;    \
  template class AdaptiveMaxPool<N>;    \
  template class LPPool<N>;
FLAMBEAU_POOLING(1)
FLAMBEAU_POOLING(2)
FLAMBEAU_POOLING(3)
#undef FLAMBEAU_POOLING

}  // namespace flambeau::nn
