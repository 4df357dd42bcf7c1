// Inner loops of depthwise convolutions: up to four vectors of results at a time, which share each weight.
#include "flambeau/kernels/convolution/depthwise.h"
#include "flambeau/kernels/vectors_isa.h"

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

constexpr int kMost = 4;

// Where the vectors of a block begin: the last one may overlap the one before it, as results are written
// only.
struct Starts {
  int64_t at[kMost];
};

template <typename T, int kCount, int kStride>
[[gnu::always_inline]] inline void space_block(const T* from, const int64_t* offsets, const T* weights,
                                               int64_t taps, T bias, const Starts& starts, T* to) {
  Vector<T> sum[kCount];
  for (int v = 0; v < kCount; ++v) sum[v] = Vector<T>{} + bias;
  for (int64_t t = 0; t < taps; ++t) {
    const T* const source = from + offsets[t];
    const T weight = weights[t];
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) {
      const T* const place = source + starts.at[v] * kStride;
      if constexpr (kStride == 2) {
        sum[v] += weight * load_even(place);
      } else {
        sum[v] += weight * load(place);
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) store(to + starts.at[v], sum[v]);
}

template <typename T, int kStride>
void space_vectors(const T* from, const int64_t* offsets, const T* weights, int64_t taps, T bias,
                   int64_t count, T* to) {
  for (int64_t x = 0; x < count; x += kMost * kLanes<T>) {
    Starts starts;
    int used = 0;
    for (; used < kMost && x + used * kLanes<T> < count; ++used) {
      const int64_t begin = x + used * kLanes<T>;
      starts.at[used] = begin + kLanes<T> <= count ? begin : count - kLanes<T>;
    }
    switch (used) {
      case 1:
        space_block<T, 1, kStride>(from, offsets, weights, taps, bias, starts, to);
        break;
      case 2:
        space_block<T, 2, kStride>(from, offsets, weights, taps, bias, starts, to);
        break;
      case 3:
        space_block<T, 3, kStride>(from, offsets, weights, taps, bias, starts, to);
        break;
      default:
        space_block<T, 4, kStride>(from, offsets, weights, taps, bias, starts, to);
    }
  }
}

template <typename T>
void along_space(const T* from, const int64_t* offsets, const T* weights, int64_t taps, int64_t stride,
                 T bias, int64_t count, T* to) {
  if (count >= kLanes<T> && stride == 1)
    return space_vectors<T, 1>(from, offsets, weights, taps, bias, count, to);
  if (count >= kLanes<T> && stride == 2)
    return space_vectors<T, 2>(from, offsets, weights, taps, bias, count, to);
  for (int64_t x = 0; x < count; ++x) {
    T sum = bias;
    for (int64_t t = 0; t < taps; ++t) sum += weights[t] * from[offsets[t] + x * stride];
    to[x] = sum;
  }
}

template <typename T, int kCount>
[[gnu::always_inline]] inline void channel_block(const T* const* from, const T* const* weights, int64_t taps,
                                                 const T* bias, int64_t c, T* to) {
  Vector<T> sum[kCount];
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) sum[v] = load(bias + c + v * kLanes<T>);
  for (int64_t t = 0; t < taps; ++t) {
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) {
      sum[v] += load(from[t] + c + v * kLanes<T>) * load(weights[t] + c + v * kLanes<T>);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) store(to + c + v * kLanes<T>, sum[v]);
}

template <typename T>
void along_channels(const T* const* from, const T* const* weights, int64_t taps, const T* bias, int64_t count,
                    T* to) {
  int64_t c = 0;
  for (; c + kMost * kLanes<T> <= count; c += kMost * kLanes<T>) {
    channel_block<T, kMost>(from, weights, taps, bias, c, to);
  }
  switch ((count - c) / kLanes<T>) {
    case 1:
      channel_block<T, 1>(from, weights, taps, bias, c, to);
      break;
    case 2:
      channel_block<T, 2>(from, weights, taps, bias, c, to);
      break;
    case 3:
      channel_block<T, 3>(from, weights, taps, bias, c, to);
      break;
    default:
      break;
  }
  c += (count - c) / kLanes<T> * kLanes<T>;
  for (; c < count; ++c) {
    T sum = bias[c];
    for (int64_t t = 0; t < taps; ++t) sum += from[t][c] * weights[t][c];
    to[c] = sum;
  }
}

template <typename T>
constexpr DepthwiseKernels<T> kTable = {.along_space = &along_space<T>, .along_channels = &along_channels<T>};

}  // namespace

const DepthwiseKernels<float>& float_depthwise() { return kTable<float>; }
const DepthwiseKernels<double>& double_depthwise() { return kTable<double>; }

}  // namespace flambeau::kernels::FLAMBEAU_ISA
