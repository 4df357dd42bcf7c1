// A matrix that lies somewhere in memory, and the numbers that linear algebra is done with: float, double,
// and both as complex numbers. Everything in this folder works in place on such matrices, asks poll_work()
// between pieces of work, and takes its scratch memory from the work's account.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"

namespace flambeau::kernels::linalg {

template <typename T>
struct RealOf {
  using Type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
template <typename T>
using Real = typename RealOf<T>::Type;
template <typename T>
constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

template <typename T>
constexpr Real<T> kEpsilon = std::numeric_limits<Real<T>>::epsilon();

// Plain arithmetic: the standard's product of complex numbers looks at infinities first.
template <typename T>
inline T times(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}
template <typename T>
inline T conjugate(T a) {
  if constexpr (kIsComplex<T>) {
    return std::conj(a);
  } else {
    return a;
  }
}
template <typename T>
inline Real<T> real_part(T a) {
  return std::real(a);
}
// |re| + |im|, by which pivots are chosen.
template <typename T>
inline Real<T> magnitude(T a) {
  if constexpr (kIsComplex<T>) {
    return std::abs(a.real()) + std::abs(a.imag());
  } else {
    return std::abs(a);
  }
}

template <typename T>
struct Matrix {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_step = 1;  // from one row to the next
  int64_t column_step = 0;

  T& operator()(int64_t r, int64_t c) const { return data[r * row_step + c * column_step]; }
  T* column(int64_t c) const { return data + c * column_step; }
  Matrix block(int64_t r, int64_t c, int64_t height, int64_t width) const {
    return {data + r * row_step + c * column_step, height, width, row_step, column_step};
  }
  Matrix transposed() const { return {data, columns, rows, column_step, row_step}; }
  int64_t shorter_side() const { return std::min(rows, columns); }
};

// Column after column, with memory of its own.
template <typename T>
class ScratchMatrix {
 public:
  ScratchMatrix(int64_t rows, int64_t columns)
      : data_(static_cast<size_t>(rows) * static_cast<size_t>(columns)), rows_(rows), columns_(columns) {}
  operator Matrix<T>() { return view(); }  // NOLINT(google-explicit-constructor)
  Matrix<T> view() { return {data_.data(), rows_, columns_, 1, rows_}; }

 private:
  ScratchVector<T> data_;
  int64_t rows_;
  int64_t columns_;
};

template <typename T>
void copy(Matrix<T> from, Matrix<T> to) {
  WorkPoller poll;
  for (int64_t c = 0; c < to.columns; ++c) {
    poll(static_cast<size_t>(to.rows));
    for (int64_t r = 0; r < to.rows; ++r) to(r, c) = from(r, c);
  }
}
template <typename T>
void set_identity(Matrix<T> a) {
  WorkPoller poll;
  for (int64_t c = 0; c < a.columns; ++c) {
    poll(static_cast<size_t>(a.rows));
    for (int64_t r = 0; r < a.rows; ++r) a(r, c) = r == c ? T(1) : T(0);
  }
}
template <typename T>
void conjugate_all(Matrix<T> a) {
  if constexpr (kIsComplex<T>) {
    WorkPoller poll;
    for (int64_t c = 0; c < a.columns; ++c) {
      poll(static_cast<size_t>(a.rows));
      for (int64_t r = 0; r < a.rows; ++r) a(r, c) = std::conj(a(r, c));
    }
  }
}
// Makes a matrix of one triangle Hermitian.
template <typename T>
void mirror(Matrix<T> a, bool from_upper) {
  WorkPoller poll;
  for (int64_t c = 0; c < a.columns; ++c) {
    poll(static_cast<size_t>(a.rows));
    a(c, c) = T(real_part(a(c, c)));
    for (int64_t r = c + 1; r < a.rows; ++r) {
      if (from_upper) {
        a(r, c) = conjugate(a(c, r));
      } else {
        a(c, r) = conjugate(a(r, c));
      }
    }
  }
}

// out = alpha * left * right + beta * out; alpha is 1 or -1, beta is 0 or 1.
template <typename T>
void product(ThreadPool& pool, Matrix<T> left, Matrix<T> right, Matrix<T> out, T alpha = T(1), T beta = T(0));

// The 2-norm, of numbers of any size.
template <typename T>
Real<T> norm(int64_t count, const T* x);

// What exists in all four types.
#define FLAMBEAU_LINALG_TYPES(make) \
  make(float) make(double) make(std::complex<float>) make(std::complex<double>)

}  // namespace flambeau::kernels::linalg
