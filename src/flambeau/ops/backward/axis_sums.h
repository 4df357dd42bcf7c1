// Elements of one dimension added back to where they were taken from: what undoes resizing and padding.
#pragma once

#include <algorithm>

#include "flambeau/ops/backward/packed.h"

namespace flambeau::ops {

// Position i of the larger or smaller line was made of taps: tap k is number k * out + i.
struct AxisTaps {
  int64_t in = 1;
  int64_t out = 1;
  int64_t count = 1;
  const int64_t* index = nullptr;
  const double* weight = nullptr;  // null: 1
};

// A packed gradient of `out` elements along a dimension, to one of `in` elements.
template <typename T>
Tensor add_back(Context& context, const Tensor& gradient, size_t dim, const AxisTaps& taps) {
  Dims sizes = gradient.sizes();
  sizes[dim] = taps.in;
  const Tensor made = context.allocate(gradient.dtype(), sizes);
  T* const to = made.mutable_data<T>();
  const T* const from = gradient.data<T>();
  const int64_t inner = product_of(sizes, dim + 1, sizes.size());
  const int64_t outer = product_of(sizes, 0, dim);
  // Threads share the lines; where there are few, pieces of the rows beside one another.
  const int64_t pieces = outer < 16 ? std::min<int64_t>(std::max<int64_t>(inner / 64, 1), 16) : 1;
  for_each_part(context, outer * pieces, taps.out * taps.count * (inner / pieces), [&](int64_t part) {
    const int64_t line = part / pieces;
    const int64_t begin = inner * (part % pieces) / pieces, end = inner * (part % pieces + 1) / pieces;
    T* const target = to + line * taps.in * inner;
    const T* const source = from + line * taps.out * inner;
    for (int64_t i = 0; i < taps.in; ++i)
      std::fill(target + i * inner + begin, target + i * inner + end, T(0));
    for (int64_t k = 0; k < taps.count; ++k) {
      for (int64_t i = 0; i < taps.out; ++i) {
        const int64_t tap = k * taps.out + i;
        const T weight = taps.weight == nullptr ? T(1) : static_cast<T>(taps.weight[tap]);
        if (weight == T(0)) continue;
        T* const row = target + taps.index[tap] * inner;
        const T* const by = source + i * inner;
        for (int64_t c = begin; c < end; ++c) row[c] += weight * by[c];
      }
    }
  });
  return made;
}

}  // namespace flambeau::ops
