#include "flambeau/ops/attention/softmax_rows.h"

#include <limits>

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

constexpr int64_t kLanes = 32;

template <typename T>
T larger_of(T a, T b) {
  return b > a || b != b ? b : a;
}

template <typename T>
T largest(const T* row, int64_t count) {
  T lanes[kLanes];
  for (T& lane : lanes) lane = -std::numeric_limits<T>::infinity();
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = larger_of(lanes[lane], row[i + lane]);
  }
  T found = -std::numeric_limits<T>::infinity();
  for (; i < count; ++i) found = larger_of(found, row[i]);
  for (const T lane : lanes) found = larger_of(found, lane);
  return found;
}

template <typename T>
T sum(const T* row, int64_t count) {
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += row[i + lane];
  }
  T found = 0;
  for (; i < count; ++i) found += row[i];
  for (const T lane : lanes) found += lane;
  return found;
}

template <typename T>
void subtract(T* row, T number, int64_t count) {
  for (int64_t i = 0; i < count; ++i) row[i] -= number;
}
template <typename T>
void scale(T* row, T number, int64_t count) {
  for (int64_t i = 0; i < count; ++i) row[i] *= number;
}
template <typename T>
void add(T* __restrict row, const T* __restrict other, int64_t count) {
  for (int64_t i = 0; i < count; ++i) row[i] += other[i];
}

template <typename T>
constexpr SoftmaxRows<T> kRows = {&largest<T>, &sum<T>, &subtract<T>, &scale<T>, &add<T>};

}  // namespace

const SoftmaxRows<float>& float_softmax() { return kRows<float>; }
const SoftmaxRows<double>& double_softmax() { return kRows<double>; }

}  // namespace flambeau::ops::FLAMBEAU_ISA
