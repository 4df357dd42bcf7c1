#include "flambeau/ops/attention/softmax_rows.h"

#include <cmath>
#include <limits>

#include "flambeau/kernels/math/vector_math_core.h"

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

constexpr int64_t kLanes = 32;

template <typename T>
T larger_of(T a, T b) {
  return ((b > a) | (b != b)) ? b : a;
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

// x is at most 0. What is below the normal range becomes 0, and so does minus infinity.
inline float exp_below_zero(float x) {
  const float y = kernels::exp_of_normal(x);
  return x < -87.0F ? 0.0F : y;
}
inline double exp_below_zero(double x) { return std::exp(x); }

template <typename T>
T exponentials(T* row, T largest, int64_t count) {
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const T value = exp_below_zero(row[i + lane] - largest);
      row[i + lane] = value;
      lanes[lane] += value;
    }
  }
  T found = 0;
  for (; i < count; ++i) {
    row[i] = exp_below_zero(row[i] - largest);
    found += row[i];
  }
  for (const T lane : lanes) found += lane;
  return found;
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
constexpr SoftmaxRows<T> kRows = {&largest<T>, &exponentials<T>, &scale<T>, &add<T>};

}  // namespace

const SoftmaxRows<float>& float_softmax() { return kRows<float>; }
const SoftmaxRows<double>& double_softmax() { return kRows<double>; }

}  // namespace flambeau::ops::FLAMBEAU_ISA
