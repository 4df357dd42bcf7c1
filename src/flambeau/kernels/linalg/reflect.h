// Householder's reflections H = I - tau * v * v^H, where v starts with a 1 that is not stored, and products
// of them: QR factorizations. Blocks of reflections are applied as matrix products.
#pragma once

#include "flambeau/kernels/linalg/matrix.h"

namespace flambeau::kernels::linalg {

// The reflection whose H^H makes (alpha, x) to (beta, 0), where beta is real: alpha becomes beta, x the rest
// of v. Gives tau.
template <typename T>
T make_reflection(T& alpha, int64_t count, T* x);

// a becomes R and, below the diagonal, the reflections of Q. Columns lie packed. As many taus as the shorter
// side. With `order`, the column of the largest norm comes next each time, and order says which it was.
template <typename T>
void factor_qr(ThreadPool& pool, Matrix<T> a, T* tau);
template <typename T>
void factor_qr_ordered(Matrix<T> a, T* tau, int32_t* order);

// b becomes Q * b or b * Q, or with Q^H, for the product Q of `count` reflections, which begin at the
// diagonal of a or `below` it.
struct Side {
  bool is_left = true;
  bool is_adjoint = false;
  int64_t below = 0;
};
template <typename T>
void apply_q(ThreadPool& pool, Matrix<T> a, const T* tau, int64_t count, Matrix<T> b, Side side = {});

}  // namespace flambeau::kernels::linalg
