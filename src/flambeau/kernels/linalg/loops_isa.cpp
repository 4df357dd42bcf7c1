// Complex numbers go through these loops as pairs of reals; sums are taken in several lanes, which vectors
// hold.
#include "flambeau/kernels/linalg/loops.h"

namespace flambeau::kernels::linalg::FLAMBEAU_ISA {
namespace {

template <typename T>
void add(int64_t count, T factor, const T* x, T* y) {
  if constexpr (kIsComplex<T>) {
    using R = Real<T>;
    const R re = factor.real(), im = factor.imag();
    const R* const from = reinterpret_cast<const R*>(x);
    R* const to = reinterpret_cast<R*>(y);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) {
      to[2 * i] += re * from[2 * i] - im * from[2 * i + 1];
      to[2 * i + 1] += re * from[2 * i + 1] + im * from[2 * i];
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) y[i] += factor * x[i];
  }
}

template <typename T>
T dot(int64_t count, const T* x, const T* y) {
  using R = Real<T>;
  constexpr int64_t kLanes = 32;
  if constexpr (kIsComplex<T>) {
    const R* const a = reinterpret_cast<const R*>(x);
    const R* const b = reinterpret_cast<const R*>(y);
    R re[kLanes] = {}, im[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int64_t l = 0; l < kLanes; ++l) {
        const int64_t at = 2 * (i + l);
        re[l] += a[at] * b[at] + a[at + 1] * b[at + 1];
        im[l] += a[at] * b[at + 1] - a[at + 1] * b[at];
      }
    }
    for (; i < count; ++i) {
      re[i % kLanes] += a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
      im[i % kLanes] += a[2 * i] * b[2 * i + 1] - a[2 * i + 1] * b[2 * i];
    }
    R sum_re = 0, sum_im = 0;
    for (int64_t l = 0; l < kLanes; ++l) {
      sum_re += re[l];
      sum_im += im[l];
    }
    return {sum_re, sum_im};
  } else {
    if (count < kLanes) {
      R sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += x[i] * y[i];
      return sum;
    }
    R lanes[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] += x[i + l] * y[i + l];
    }
    for (int64_t l = 0; i < count; ++i, ++l) lanes[l] += x[i] * y[i];
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    return lanes[0];
  }
}

template <typename T>
void multiply(int64_t rows, int64_t columns, const T* a, int64_t step, const T* x, T* y) {
  int64_t c = 0;
  if constexpr (!kIsComplex<T>) {
    for (; c + 4 <= columns; c += 4) {
      const T* const a0 = a + c * step;
      const T* const a1 = a0 + step;
      const T* const a2 = a1 + step;
      const T* const a3 = a2 + step;
      const T x0 = x[c], x1 = x[c + 1], x2 = x[c + 2], x3 = x[c + 3];
#pragma GCC ivdep
      for (int64_t r = 0; r < rows; ++r) y[r] += a0[r] * x0 + a1[r] * x1 + a2[r] * x2 + a3[r] * x3;
    }
  }
  for (; c < columns; ++c) add(rows, x[c], a + c * step, y);
}

template <typename T>
void multiply_adjoint(int64_t rows, int64_t columns, const T* a, int64_t step, const T* x, T* y) {
  for (int64_t c = 0; c < columns; ++c) y[c] = dot(rows, a + c * step, x);
}

template <typename T>
void rotate(int64_t rows, T* a, int64_t step, const Rotation<Real<T>>* rotations, int64_t count) {
  using R = Real<T>;
  R* const numbers = reinterpret_cast<R*>(a);
  const int64_t height = kIsComplex<T> ? 2 * rows : rows;
  const int64_t stride = kIsComplex<T> ? 2 * step : step;
  for (int64_t i = 0; i < count; ++i) {
    R* const x = numbers + rotations[i].x * stride;
    R* const y = numbers + rotations[i].y * stride;
    const R c = rotations[i].c, s = rotations[i].s;
#pragma GCC ivdep
    for (int64_t r = 0; r < height; ++r) {
      const R turned = c * x[r] + s * y[r];
      y[r] = c * y[r] - s * x[r];
      x[r] = turned;
    }
  }
}

template <typename T>
Loops<T> loops_of() {
  return {&add<T>, &dot<T>, &multiply<T>, &multiply_adjoint<T>, &rotate<T>};
}

}  // namespace

AllLoops make_loops() {
  return {loops_of<float>(), loops_of<double>(), loops_of<std::complex<float>>(),
          loops_of<std::complex<double>>()};
}

}  // namespace flambeau::kernels::linalg::FLAMBEAU_ISA
