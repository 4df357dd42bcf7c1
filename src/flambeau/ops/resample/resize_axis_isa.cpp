#include "flambeau/ops/resample/resize_axis.h"

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

template <typename T>
void gather_line(const AxisResize<T>& axis, const T* __restrict from, T* __restrict to) {
  const int64_t out = axis.out;
  const int64_t* const __restrict index = axis.index;
  const T* const __restrict weight = axis.weight;
  if (axis.taps == 1) {
    for (int64_t i = 0; i < out; ++i) to[i] = from[index[i]];
    return;
  }
  if (axis.taps == 2) {
#pragma GCC ivdep
    for (int64_t i = 0; i < out; ++i) {
      to[i] = weight[i] * from[index[i]] + weight[out + i] * from[index[out + i]];
    }
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < out; ++i) to[i] = weight[i] * from[index[i]];
  for (int64_t k = 1; k < axis.taps; ++k) {
    const int64_t* const __restrict places = index + k * out;
    const T* const __restrict weights = weight + k * out;
#pragma GCC ivdep
    for (int64_t i = 0; i < out; ++i) to[i] += weights[i] * from[places[i]];
  }
}

template <typename T>
void blend_line(const AxisResize<T>& axis, const T* from, T* __restrict to, int64_t i) {
  const int64_t inner = axis.inner;
  const T* const __restrict first = from + axis.index[i] * inner;
  const T weight = axis.weight[i];
  if (axis.taps == 1) {
    for (int64_t j = 0; j < inner; ++j) to[j] = first[j];
    return;
  }
  const T* const __restrict second = from + axis.index[axis.out + i] * inner;
  const T second_weight = axis.weight[axis.out + i];
#pragma GCC ivdep
  for (int64_t j = 0; j < inner; ++j) to[j] = weight * first[j] + second_weight * second[j];
  for (int64_t k = 2; k < axis.taps; ++k) {
    const T* const __restrict next = from + axis.index[k * axis.out + i] * inner;
    const T next_weight = axis.weight[k * axis.out + i];
#pragma GCC ivdep
    for (int64_t j = 0; j < inner; ++j) to[j] += next_weight * next[j];
  }
}

template <typename T>
void lines(const AxisResize<T>& axis, const T* from, T* to, int64_t begin, int64_t end) {
  if (axis.inner == 1) {
    for (int64_t line = begin; line < end; ++line)
      gather_line(axis, from + line * axis.in, to + line * axis.out);
    return;
  }
  for (int64_t line = begin; line < end; ++line) {
    const int64_t outer = line / axis.out;
    blend_line(axis, from + outer * axis.in * axis.inner, to + line * axis.inner, line % axis.out);
  }
}

template <typename T>
constexpr ResizeLoops<T> kLoops = {&lines<T>};

}  // namespace

const ResizeLoops<float>& float_resize() { return kLoops<float>; }
const ResizeLoops<double>& double_resize() { return kLoops<double>; }

}  // namespace flambeau::ops::FLAMBEAU_ISA
