// The inner loops of linear algebra over columns that lie packed, picked for the processor.
#pragma once

#include <complex>
#include <cstdint>

#include "flambeau/base/isa.h"
#include "flambeau/kernels/linalg/matrix.h"

namespace flambeau::kernels::linalg {

// (x, y) becomes (c * x + s * y, c * y - s * x), for two columns.
template <typename R>
struct Rotation {
  int32_t x;
  int32_t y;
  R c;
  R s;
};

// `step` is from one column of the matrix `a` to the next.
template <typename T>
struct Loops {
  // y += factor * x
  void (*add)(int64_t count, T factor, const T* x, T* y);
  // The sum of conj(x) * y.
  T (*dot)(int64_t count, const T* x, const T* y);
  // y += a * x
  void (*multiply)(int64_t rows, int64_t columns, const T* a, int64_t step, const T* x, T* y);
  // y = conj(a)^T * x
  void (*multiply_adjoint)(int64_t rows, int64_t columns, const T* a, int64_t step, const T* x, T* y);
  void (*rotate)(int64_t rows, T* a, int64_t step, const Rotation<Real<T>>* rotations, int64_t count);
};

struct AllLoops {
  Loops<float> single;
  Loops<double> twofold;
  Loops<std::complex<float>> complex_single;
  Loops<std::complex<double>> complex_twofold;
};

template <typename T>
const Loops<T>& loops();

#define FLAMBEAU_DECLARE(level) \
  namespace level {             \
  AllLoops make_loops();        \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

}  // namespace flambeau::kernels::linalg
