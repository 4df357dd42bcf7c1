#include "flambeau/ops/rnn/cells.h"

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

template <typename T>
void sum_of_products(const T* a, const T* b, const T* c, const T* d, T* to, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = a[i] * b[i] + c[i] * d[i];
}
template <typename T>
void product(const T* a, const T* b, T* to, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = a[i] * b[i];
}
template <typename T>
void sum(const T* a, const T* b, T* to, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = a[i] + b[i];
}
template <typename T>
void add_product(const T* a, const T* b, const T* c, T* to, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = a[i] + b[i] * c[i];
}
template <typename T>
void mix(const T* fresh, const T* keep, T* state, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) state[i] = (state[i] - fresh[i]) * keep[i] + fresh[i];
}
template <typename T>
void relu(const T* a, T* to, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = a[i] < T(0) ? T(0) : a[i];
}

template <typename T>
constexpr CellLoops<T> kLoops = {&sum_of_products<T>, &product<T>, &sum<T>,
                                 &add_product<T>,     &mix<T>,     &relu<T>};

}  // namespace

const CellLoops<float>& float_cells() { return kLoops<float>; }
const CellLoops<double>& double_cells() { return kLoops<double>; }

}  // namespace flambeau::ops::FLAMBEAU_ISA
