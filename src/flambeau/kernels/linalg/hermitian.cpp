// Hermitian matrices: to a tridiagonal one by reflections, whose products with the matrix are all that is not
// done in blocks; then Wilkinson's QL iteration in float64.
#include <numeric>
#include <vector>

#include "flambeau/kernels/linalg/loops.h"
#include "flambeau/kernels/linalg/reflect.h"
#include "flambeau/kernels/linalg/rotations.h"
#include "flambeau/kernels/linalg/spectrum.h"

namespace flambeau::kernels::linalg {
namespace {

constexpr int64_t kColumns = 32;  // of a panel

// y = a * x for a Hermitian a, which is read by columns.
template <typename T>
void multiply_hermitian(ThreadPool& pool, Matrix<T> a, const T* x, T* y) {
  const Cost cost{.operations = static_cast<double>(a.rows) * (kIsComplex<T> ? 4 : 1),
                  .bytes = static_cast<double>(a.rows) * sizeof(T)};
  pool.for_each_range(static_cast<size_t>(a.columns), cost.grain(), [&](size_t begin, size_t end) {
    const auto first = static_cast<int64_t>(begin);
    loops<T>().multiply_adjoint(a.rows, static_cast<int64_t>(end - begin), a.column(first), a.column_step, x,
                                y + first);
  });
}

// y -= m * (other^H * x): what the columns of a panel have done to a product already.
template <typename T>
void subtract_pair(Matrix<T> m, Matrix<T> other, const T* x, T* y, T* sums) {
  loops<T>().multiply_adjoint(other.rows, other.columns, other.data, other.column_step, x, sums);
  for (int64_t i = 0; i < m.columns; ++i) sums[i] = -sums[i];
  loops<T>().multiply(m.rows, m.columns, m.data, m.column_step, sums, y);
}

// a becomes the reflections (each begins one below the diagonal), d and e the tridiagonal matrix.
template <typename T>
void make_tridiagonal(ThreadPool& pool, Matrix<T> a, double* d, double* e, T* tau) {
  using R = Real<T>;
  const int64_t n = a.rows;
  const Loops<T>& loop = loops<T>();
  ScratchMatrix<T> scratch_v(n, kColumns), scratch_w(n, kColumns);
  const Matrix<T> v = scratch_v, w = scratch_w;
  ScratchVector<T> sums(kColumns), factors(kColumns);
  for (int64_t begin = 0; begin < n; begin += kColumns) {
    poll_work();
    const int64_t width = std::min(kColumns, n - begin);
    for (int64_t j = 0; j < width; ++j) {
      poll_work();
      const int64_t k = begin + j, rest = n - k - 1;
      // The column as the earlier ones of the panel leave it.
      for (const auto& [left, right] : {std::pair{v, w}, std::pair{w, v}}) {
        for (int64_t i = 0; i < j; ++i) factors[static_cast<size_t>(i)] = -conjugate(right(k, i));
        loop.multiply(n - k, j, &left(k, 0), left.column_step, factors.data(), &a(k, k));
      }
      d[k] = real_part(a(k, k));
      if (rest == 0) break;
      T* const below = &a(k + 1, k);
      const T t = make_reflection(below[0], rest - 1, below + 1);
      tau[k] = t;
      e[k] = real_part(below[0]);
      below[0] = T(1);
      T* const vector = &v(k + 1, j);
      T* const x = &w(k + 1, j);
      for (int64_t r = 0; r <= k; ++r) v(r, j) = w(r, j) = T(0);
      std::copy(below, below + rest, vector);
      multiply_hermitian(pool, a.block(k + 1, k + 1, rest, rest), vector, x);
      const Matrix<T> earlier_v = v.block(k + 1, 0, rest, j), earlier_w = w.block(k + 1, 0, rest, j);
      subtract_pair(earlier_v, earlier_w, vector, x, sums.data());
      subtract_pair(earlier_w, earlier_v, vector, x, sums.data());
      for (int64_t r = 0; r < rest; ++r) x[r] = times(t, x[r]);
      const T half = times(T(R(0.5)), times(t, loop.dot(rest, x, vector)));
      loop.add(rest, -half, vector, x);
    }
    const int64_t from = begin + width, rest = n - from;
    if (rest == 0) continue;
    const Matrix<T> later = a.block(from, from, rest, rest);
    for (const auto& [left, right] : {std::pair{v, w}, std::pair{w, v}}) {
      ScratchMatrix<T> adjoint(rest, width);
      copy(right.block(from, 0, rest, width), adjoint.view());
      conjugate_all(adjoint.view());
      product(pool, left.block(from, 0, rest, width), adjoint.view().transposed(), later, T(-1), T(1));
    }
  }
}

// The eigenvalues of a tridiagonal matrix become d.
template <typename T>
bool iterate_tridiagonal(int64_t n, double* d, double* e, Rotations<T>& rotations) {
  constexpr double kTiny = std::numeric_limits<double>::min();
  constexpr double kEps = std::numeric_limits<double>::epsilon();
  for (int64_t l = 0; l < n; ++l) {
    for (int turn = 0;; ++turn) {
      poll_work();
      int64_t m = l;
      while (m + 1 < n && std::abs(e[m]) > kTiny + kEps * (std::abs(d[m]) + std::abs(d[m + 1]))) ++m;
      if (m == l) break;
      if (turn == 80) return false;
      double g = (d[l + 1] - d[l]) / (2 * e[l]);
      double r = length_of(g, 1.0);
      g = d[m] - d[l] + e[l] / (g + std::copysign(r, g));
      double s = 1, c = 1, p = 0;
      int64_t i = m - 1;
      for (; i >= l; --i) {
        const double f = s * e[i], b = c * e[i];
        r = length_of(f, g);
        e[i + 1] = r;
        if (r == 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotations.add(i, i + 1, c, -s);
      }
      if (r == 0 && i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  }
  return true;
}

}  // namespace

template <typename T>
bool eigen_hermitian(ThreadPool& pool, Matrix<T> a, Real<T>* values, bool with_vectors) {
  const int64_t n = a.rows;
  if (n == 0) return true;
  ScratchVector<double> d(static_cast<size_t>(n)), e(static_cast<size_t>(n));
  ScratchVector<T> tau(static_cast<size_t>(n));
  make_tridiagonal(pool, a, d.data(), e.data(), tau.data());
  ScratchMatrix<T> q(with_vectors ? n : 0, with_vectors ? n : 0);
  if (with_vectors) {
    set_identity(q.view());
    apply_q(pool, a, tau.data(), n - 1, q.view(), {.below = 1});
  }
  Rotations<T> rotations(pool, q);
  if (!iterate_tridiagonal(n, d.data(), e.data(), rotations)) return false;
  rotations.apply();
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  // What is no number comes last.
  const auto comes_before = [&](int64_t x, int64_t y) {
    const double first = d[static_cast<size_t>(x)], second = d[static_cast<size_t>(y)];
    return first < second || (std::isnan(second) && !std::isnan(first));
  };
  std::stable_sort(order.begin(), order.end(), comes_before);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = order[static_cast<size_t>(i)];
    values[i] = static_cast<Real<T>>(d[static_cast<size_t>(from)]);
    if (with_vectors) std::copy_n(q.view().column(from), n, a.column(i));
  }
  return true;
}

#define FLAMBEAU_MAKE(T) template bool eigen_hermitian<T>(ThreadPool&, Matrix<T>, Real<T>*, bool);
FLAMBEAU_LINALG_TYPES(FLAMBEAU_MAKE)
#undef FLAMBEAU_MAKE

}  // namespace flambeau::kernels::linalg
