// Inner loops of pooling.
#include "flambeau/kernels/pooling_kernels.h"

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

// Whether `value` takes the place of `most`; a NaN does, and nothing but another NaN takes its place.
template <typename T>
inline bool beats(T value, T most) {
  return value > most || value != value;
}

// The steps that models use are known to the compiler, so that it can use vectors.
template <typename Body>
inline void with_step(int64_t step, Body&& body) {
  switch (step) {
    case 1:
      return body([](int64_t i) { return i; });
    case 2:
      return body([](int64_t i) { return 2 * i; });
    default:
      return body([step](int64_t i) { return step * i; });
  }
}

template <typename T>
void max(const T* __restrict from, int64_t step, int64_t count, T* __restrict to) {
  with_step(step, [&](auto at) {
    for (int64_t i = 0; i < count; ++i) {
      const T value = from[at(i)];
      const T most = to[i];
      to[i] = beats(value, most) ? value : most;
    }
  });
}

template <typename T>
void max_index(const T* __restrict from, int64_t step, int64_t count, T* __restrict to, int64_t index,
               int64_t index_step, int64_t* __restrict indices) {
  with_step(step, [&](auto at) {
    for (int64_t i = 0; i < count; ++i) {
      const T value = from[at(i)];
      const T most = to[i];
      const bool more = beats(value, most);
      to[i] = more ? value : most;
      indices[i] = more ? index + i * index_step : indices[i];
    }
  });
}

template <typename T>
void add(const T* __restrict from, int64_t step, int64_t count, T* __restrict to) {
  with_step(step, [&](auto at) {
    for (int64_t i = 0; i < count; ++i) to[i] += from[at(i)];
  });
}

template <typename T>
constexpr PoolingKernels<T> kTable = {.max = &max<T>, .max_index = &max_index<T>, .add = &add<T>};

}  // namespace

const PoolingKernels<float>& float_pooling() { return kTable<float>; }
const PoolingKernels<double>& double_pooling() { return kTable<double>; }
const PoolingKernels<int64_t>& int64_pooling() { return kTable<int64_t>; }

}  // namespace flambeau::kernels::FLAMBEAU_ISA
