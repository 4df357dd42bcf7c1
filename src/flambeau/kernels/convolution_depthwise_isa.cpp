// Inner loops of depthwise convolutions.
#include "flambeau/kernels/convolution_depthwise.h"

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

template <typename T, int kTaps>
void add_taps(const T* __restrict from, int64_t stride, int64_t dilation, const T* weights, int64_t count,
              T* __restrict to) {
  T w[kTaps];
  for (int k = 0; k < kTaps; ++k) w[k] = weights[k];
  if (stride == 1) {
    for (int64_t x = 0; x < count; ++x) {
      T sum = to[x];
#pragma GCC unroll 8
      for (int k = 0; k < kTaps; ++k) sum += w[k] * from[x + k * dilation];
      to[x] = sum;
    }
  } else if (stride == 2) {
    for (int64_t x = 0; x < count; ++x) {
      T sum = to[x];
#pragma GCC unroll 8
      for (int k = 0; k < kTaps; ++k) sum += w[k] * from[2 * x + k * dilation];
      to[x] = sum;
    }
  } else {
    for (int64_t x = 0; x < count; ++x) {
      T sum = to[x];
      for (int k = 0; k < kTaps; ++k) sum += w[k] * from[stride * x + k * dilation];
      to[x] = sum;
    }
  }
}

template <typename T>
void add_row(const T* from, int64_t stride, int64_t dilation, const T* weights, int64_t taps, int64_t count,
             T* to) {
  int64_t k = 0;
  for (; k + 5 <= taps; k += 5) add_taps<T, 5>(from + k * dilation, stride, dilation, weights + k, count, to);
  for (; k + 3 <= taps; k += 3) add_taps<T, 3>(from + k * dilation, stride, dilation, weights + k, count, to);
  for (; k < taps; ++k) add_taps<T, 1>(from + k * dilation, stride, dilation, weights + k, count, to);
}

template <typename T>
void add_product(const T* __restrict from, const T* __restrict weights, int64_t count, T* __restrict to) {
  for (int64_t c = 0; c < count; ++c) to[c] += from[c] * weights[c];
}

template <typename T>
constexpr DepthwiseKernels<T> kTable = {.add_row = &add_row<T>, .add_product = &add_product<T>};

}  // namespace

const DepthwiseKernels<float>& float_depthwise() { return kTable<float>; }
const DepthwiseKernels<double>& double_depthwise() { return kTable<double>; }

}  // namespace flambeau::kernels::FLAMBEAU_ISA
