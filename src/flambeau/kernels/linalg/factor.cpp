#include "flambeau/kernels/linalg/factor.h"

#include "flambeau/kernels/linalg/loops.h"

namespace flambeau::kernels::linalg {
namespace {

constexpr int64_t kSmall = 16;  // what is not divided any more

template <typename T>
void solve_small(Matrix<T> a, bool is_upper, bool is_unit, Matrix<T> b) {
  const int64_t n = a.rows;
  const Loops<T>& loop = loops<T>();
  const bool is_by_rows = b.column_step == 1 && b.columns > 1;
  const auto solve_row = [&](int64_t k, int64_t first, int64_t last) {
    poll_work();
    if (is_by_rows) {
      T* const row = &b(k, 0);
      if (!is_unit) {
        for (int64_t c = 0; c < b.columns; ++c) row[c] = row[c] / a(k, k);
      }
      for (int64_t i = first; i < last; ++i) loop.add(b.columns, -a(i, k), row, &b(i, 0));
      return;
    }
    for (int64_t c = 0; c < b.columns; ++c) {
      if (!is_unit) b(k, c) = b(k, c) / a(k, k);
      const T x = b(k, c);
      for (int64_t i = first; i < last; ++i) b(i, c) -= times(a(i, k), x);
    }
  };
  if (is_upper) {
    for (int64_t k = n; k-- > 0;) solve_row(k, 0, k);
  } else {
    for (int64_t k = 0; k < n; ++k) solve_row(k, k + 1, n);
  }
}

// One column after the other, rows of the whole block exchanged.
template <typename T>
int64_t factor_narrow(Matrix<T> a, int32_t* pivots) {
  int64_t failure = 0;
  const Loops<T>& loop = loops<T>();
  for (int64_t k = 0; k < a.shorter_side(); ++k) {
    poll_work();
    T* const column = a.column(k);
    int64_t best = k;
    for (int64_t r = k + 1; r < a.rows; ++r) {
      if (magnitude(column[r]) > magnitude(column[best])) best = r;
    }
    pivots[k] = static_cast<int32_t>(best + 1);
    if (column[best] == T(0)) {
      if (failure == 0) failure = k + 1;
      continue;
    }
    if (best != k) {
      for (int64_t c = 0; c < a.columns; ++c) std::swap(a(k, c), a(best, c));
    }
    const T pivot = column[k];
    for (int64_t r = k + 1; r < a.rows; ++r) column[r] = column[r] / pivot;
    for (int64_t c = k + 1; c < a.columns; ++c) {
      loop.add(a.rows - k - 1, -a(k, c), column + k + 1, a.column(c) + k + 1);
    }
  }
  return failure;
}

template <typename T>
int64_t cholesky_small(Matrix<T> a) {
  for (int64_t k = 0; k < a.rows; ++k) {
    Real<T> square = real_part(a(k, k));
    for (int64_t j = 0; j < k; ++j) square -= real_part(times(a(k, j), conjugate(a(k, j))));
    if (!(square > 0)) {
      a(k, k) = T(square);
      return k + 1;
    }
    const Real<T> root = std::sqrt(square);
    a(k, k) = T(root);
    for (int64_t i = k + 1; i < a.rows; ++i) {
      T sum = a(i, k);
      for (int64_t j = 0; j < k; ++j) sum -= times(a(i, j), conjugate(a(k, j)));
      a(i, k) = sum / root;
    }
  }
  return 0;
}

// The lower triangle of a becomes a - x * x^H, of which `adjoint` is the right side.
template <typename T>
void subtract_square(ThreadPool& pool, Matrix<T> a, Matrix<T> x, Matrix<T> adjoint) {
  if (a.rows <= 64) return product(pool, x, adjoint, a, T(-1), T(1));
  const int64_t half = a.rows / 2, rest = a.rows - half;
  const Matrix<T> lower = x.block(half, 0, rest, x.columns);
  const Matrix<T> left = adjoint.block(0, 0, adjoint.rows, half);
  subtract_square(pool, a.block(0, 0, half, half), x.block(0, 0, half, x.columns), left);
  product(pool, lower, left, a.block(half, 0, rest, half), T(-1), T(1));
  subtract_square(pool, a.block(half, half, rest, rest), lower, adjoint.block(0, half, adjoint.rows, rest));
}

}  // namespace

template <typename T>
void solve_triangle(ThreadPool& pool, Matrix<T> a, bool is_upper, bool is_unit, Matrix<T> b) {
  const int64_t n = a.rows;
  if (b.columns == 0) return;
  if (n <= kSmall) return solve_small(a, is_upper, is_unit, b);
  poll_work();
  const int64_t half = n / 2, rest = n - half;
  const Matrix<T> top = b.block(0, 0, half, b.columns), bottom = b.block(half, 0, rest, b.columns);
  const Matrix<T> first = a.block(0, 0, half, half), last = a.block(half, half, rest, rest);
  if (is_upper) {
    solve_triangle(pool, last, true, is_unit, bottom);
    product(pool, a.block(0, half, half, rest), bottom, top, T(-1), T(1));
    solve_triangle(pool, first, true, is_unit, top);
  } else {
    solve_triangle(pool, first, false, is_unit, top);
    product(pool, a.block(half, 0, rest, half), top, bottom, T(-1), T(1));
    solve_triangle(pool, last, false, is_unit, bottom);
  }
}

template <typename T>
void exchange_rows(Matrix<T> a, const int32_t* pivots, int64_t count, bool is_back) {
  WorkPoller poll;
  for (int64_t c = 0; c < a.columns; ++c) {
    poll(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = is_back ? count - 1 - i : i;
      const int64_t other = pivots[row] - 1;
      if (other != row) std::swap(a(row, c), a(other, c));
    }
  }
}

template <typename T>
int64_t factor_lu(ThreadPool& pool, Matrix<T> a, int32_t* pivots) {
  const int64_t side = a.shorter_side();
  if (side <= kSmall) return factor_narrow(a, pivots);
  poll_work();
  const int64_t half = side / 2, others = a.columns - half;
  const Matrix<T> left = a.block(0, 0, a.rows, half);
  const Matrix<T> top = a.block(0, half, half, others);
  const Matrix<T> bottom = a.block(half, half, a.rows - half, others);
  const Matrix<T> below = a.block(half, 0, a.rows - half, half);
  int64_t failure = factor_lu(pool, left, pivots);
  exchange_rows(a.block(0, half, a.rows, others), pivots, half);
  solve_triangle(pool, a.block(0, 0, half, half), false, true, top);
  product(pool, below, top, bottom, T(-1), T(1));
  const int64_t later = factor_lu(pool, bottom, pivots + half);
  if (failure == 0 && later != 0) failure = half + later;
  exchange_rows(below, pivots + half, side - half);
  for (int64_t i = half; i < side; ++i) pivots[i] += static_cast<int32_t>(half);
  return failure;
}

template <typename T>
int64_t factor_cholesky(ThreadPool& pool, Matrix<T> a) {
  const int64_t n = a.rows;
  if (n <= kSmall) return cholesky_small(a);
  poll_work();
  const int64_t half = n / 2, rest = n - half;
  const Matrix<T> first = a.block(0, 0, half, half);
  const Matrix<T> below = a.block(half, 0, rest, half);
  const Matrix<T> last = a.block(half, half, rest, rest);
  if (const int64_t failure = factor_cholesky(pool, first)) return failure;
  // below * first^-H: conjugates on both sides.
  conjugate_all(below);
  solve_triangle(pool, first, false, false, below.transposed());
  if constexpr (kIsComplex<T>) {
    ScratchMatrix<T> adjoint(rest, half);
    copy(below, adjoint.view());
    conjugate_all(below);
    subtract_square(pool, last, below, adjoint.view().transposed());
  } else {
    subtract_square(pool, last, below, below.transposed());
  }
  const int64_t failure = factor_cholesky(pool, last);
  return failure == 0 ? 0 : half + failure;
}

#define FLAMBEAU_MAKE(T)                                                          \
  template void solve_triangle<T>(ThreadPool&, Matrix<T>, bool, bool, Matrix<T>); \
  template void exchange_rows<T>(Matrix<T>, const int32_t*, int64_t, bool);       \
  template int64_t factor_lu<T>(ThreadPool&, Matrix<T>, int32_t*);                \
  template int64_t factor_cholesky<T>(ThreadPool&, Matrix<T>);
FLAMBEAU_LINALG_TYPES(FLAMBEAU_MAKE)
#undef FLAMBEAU_MAKE

}  // namespace flambeau::kernels::linalg
