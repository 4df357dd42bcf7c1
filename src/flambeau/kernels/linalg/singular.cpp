// Singular values: to a square bidiagonal matrix by reflections on both sides, in panels as for Hermitian
// ones; then the iteration of Golub and Kahan in float64.
#include <numeric>
#include <vector>

#include "flambeau/kernels/linalg/loops.h"
#include "flambeau/kernels/linalg/reflect.h"
#include "flambeau/kernels/linalg/rotations.h"
#include "flambeau/kernels/linalg/spectrum.h"

namespace flambeau::kernels::linalg {
namespace {

constexpr int64_t kPanel = 32;

// y = a^H * x, or y = a * x.
template <typename T>
void multiply_columns(ThreadPool& pool, Matrix<T> a, bool is_adjoint, const T* x, T* y) {
  const int64_t count = is_adjoint ? a.columns : a.rows, others = is_adjoint ? a.rows : a.columns;
  const Cost cost{.operations = static_cast<double>(others) * (kIsComplex<T> ? 4 : 1),
                  .bytes = static_cast<double>(others) * sizeof(T)};
  pool.for_each_range(static_cast<size_t>(count), cost.grain(), [&](size_t begin, size_t end) {
    const auto from = static_cast<int64_t>(begin), width = static_cast<int64_t>(end - begin);
    if (is_adjoint) {
      loops<T>().multiply_adjoint(a.rows, width, a.column(from), a.column_step, x, y + from);
    } else {
      std::fill_n(y + from, width, T(0));
      loops<T>().multiply(width, a.columns, a.data + from, a.column_step, x, y + from);
    }
  });
}

// What a panel has done so far: the matrix is a - v * y^H - x * w^H.
template <typename T>
struct Panel {
  explicit Panel(int64_t n)
      : memory{ScratchMatrix<T>(n, kPanel), ScratchMatrix<T>(n, kPanel), ScratchMatrix<T>(n, kPanel),
               ScratchMatrix<T>(n, kPanel)},
        v(memory[0]),
        y(memory[1]),
        x(memory[2]),
        w(memory[3]),
        sums(kPanel) {}

  // to -= m(rows from `from`, first `count`) * conj(row `row` of other)
  void subtract_row(Matrix<T> m, Matrix<T> other, int64_t row, int64_t from, int64_t count, T* to) {
    for (int64_t i = 0; i < count; ++i) sums[static_cast<size_t>(i)] = -conjugate(other(row, i));
    loops<T>().multiply(m.rows - from, count, m.data + from, m.column_step, sums.data(), to);
  }
  // to -= m(rows from `from`) * (other^H * vector), where the vector begins at `start`
  void subtract_product(Matrix<T> m, int64_t from, Matrix<T> other, int64_t start, int64_t count,
                        const T* vector, T* to) {
    loops<T>().multiply_adjoint(other.rows - start, count, other.data + start, other.column_step, vector,
                                sums.data());
    for (int64_t i = 0; i < count; ++i) sums[static_cast<size_t>(i)] = -sums[static_cast<size_t>(i)];
    loops<T>().multiply(m.rows - from, count, m.data + from, m.column_step, sums.data(), to);
  }

  ScratchMatrix<T> memory[4];
  Matrix<T> v, y, x, w;
  ScratchVector<T> sums;
};

// The reflections from the left become the lower half of a, those from the right the columns of `right`, each
// from one below the diagonal on.
template <typename T>
void make_bidiagonal(ThreadPool& pool, Matrix<T> a, Matrix<T> right, double* d, double* e, T* tau_left,
                     T* tau_right) {
  const int64_t n = a.rows;
  Panel<T> panel(n);
  ScratchVector<T> row(static_cast<size_t>(n));
  const auto scale = [](T factor, int64_t count, T* x) {
    for (int64_t i = 0; i < count; ++i) x[i] = times(factor, x[i]);
  };
  for (int64_t begin = 0; begin < n; begin += kPanel) {
    poll_work();
    const int64_t width = std::min(kPanel, n - begin);
    for (int64_t j = 0; j < width; ++j) {
      poll_work();
      const int64_t k = begin + j, rest = n - k - 1;
      T* const column = &a(k, k);
      panel.subtract_row(panel.v, panel.y, k, k, j, column);
      panel.subtract_row(panel.x, panel.w, k, k, j, column);
      tau_left[k] = make_reflection(column[0], rest, column + 1);
      d[k] = real_part(column[0]);
      column[0] = T(1);
      for (int64_t r = 0; r < k; ++r) panel.v(r, j) = T(0);
      std::copy_n(column, n - k, &panel.v(k, j));
      if (rest == 0) break;
      for (int64_t r = 0; r <= k; ++r) panel.y(r, j) = panel.x(r, j) = panel.w(r, j) = T(0);
      T* const y = &panel.y(k + 1, j);
      multiply_columns(pool, a.block(k, k + 1, n - k, rest), true, column, y);
      panel.subtract_product(panel.y, k + 1, panel.v, k, j, column, y);
      panel.subtract_product(panel.w, k + 1, panel.x, k, j, column, y);
      scale(tau_left[k], rest, y);

      // The row, conjugated, as all that is left of it.
      T* const w = &panel.w(k + 1, j);
      for (int64_t c = 0; c < rest; ++c) w[c] = conjugate(a(k, k + 1 + c));
      panel.subtract_row(panel.y, panel.v, k, k + 1, j + 1, w);
      panel.subtract_row(panel.w, panel.x, k, k + 1, j, w);
      tau_right[k] = make_reflection(w[0], rest - 1, w + 1);
      e[k] = real_part(w[0]);
      w[0] = T(1);
      std::copy_n(w, rest, &right(k + 1, k));
      T* const x = &panel.x(k + 1, j);
      multiply_columns(pool, a.block(k + 1, k + 1, rest, rest), false, w, x);
      panel.subtract_product(panel.v, k + 1, panel.y, k + 1, j + 1, w, x);
      panel.subtract_product(panel.x, k + 1, panel.w, k + 1, j, w, x);
      scale(tau_right[k], rest, x);
    }
    const int64_t from = begin + width, rest = n - from;
    if (rest == 0) continue;
    const Matrix<T> later = a.block(from, from, rest, rest);
    for (const auto& [left, other] : {std::pair{panel.v, panel.y}, std::pair{panel.x, panel.w}}) {
      ScratchMatrix<T> adjoint(rest, width);
      copy(other.block(from, 0, rest, width), adjoint.view());
      conjugate_all(adjoint.view());
      product(pool, left.block(from, 0, rest, width), adjoint.view().transposed(), later, T(-1), T(1));
    }
  }
}

// The plane rotation that makes (f, g) to (length, 0).
struct Givens {
  Givens(double f, double g) : length(length_of(f, g)) {
    if (length != 0) {
      c = f / length;
      s = g / length;
    }
  }
  double length;
  double c = 1;
  double s = 0;
};

// The singular values of the upper bidiagonal matrix become d; signs are left.
template <typename T>
bool iterate_bidiagonal(int64_t n, double* d, double* e, Rotations<T>& left, Rotations<T>& right) {
  constexpr double kEps = std::numeric_limits<double>::epsilon();
  constexpr double kTiny = std::numeric_limits<double>::min();
  int turns = 0;
  for (int64_t end = n; end > 0;) {
    poll_work();
    if (++turns > 120) return false;
    int64_t begin = end - 1;
    while (begin > 0 &&
           std::abs(e[begin - 1]) > kTiny + kEps * (std::abs(d[begin - 1]) + std::abs(d[begin]))) {
      --begin;
    }
    if (begin > 0) e[begin - 1] = 0;
    if (begin == end - 1) {
      --end;
      turns = 0;
      continue;
    }
    const int64_t last = end - 1;
    int64_t zero = last;
    while (zero >= begin) {
      const double around =
          (zero < last ? std::abs(e[zero]) : 0) + (zero > begin ? std::abs(e[zero - 1]) : 0);
      if (std::abs(d[zero]) <= kTiny + kEps * around) break;
      --zero;
    }
    if (zero == last) {  // its column goes
      d[last] = 0;
      double f = e[last - 1];
      e[last - 1] = 0;
      for (int64_t j = last - 1; j >= begin; --j) {
        const Givens turn(d[j], f);
        d[j] = turn.length;
        if (j > begin) {
          f = -turn.s * e[j - 1];
          e[j - 1] *= turn.c;
        }
        right.add(j, last, turn.c, turn.s);
      }
      continue;
    }
    if (zero >= begin) {  // its row goes
      d[zero] = 0;
      double f = e[zero];
      e[zero] = 0;
      for (int64_t j = zero + 1; j < end; ++j) {
        const Givens turn(d[j], f);
        d[j] = turn.length;
        if (j < last) {
          f = -turn.s * e[j];
          e[j] *= turn.c;
        }
        left.add(j, zero, turn.c, turn.s);
      }
      continue;
    }
    const double scale = std::max({std::abs(d[last]), std::abs(d[last - 1]), std::abs(e[last - 1]),
                                   std::abs(d[begin]), std::abs(e[begin])});
    const double sp = d[last] / scale, before = d[last - 1] / scale, link = e[last - 1] / scale;
    const double first = d[begin] / scale, second = e[begin] / scale;
    const double b = ((before + sp) * (before - sp) + link * link) / 2;
    const double c = (sp * link) * (sp * link);
    double shift = 0;
    if (b != 0 || c != 0) shift = c / (b + std::copysign(std::sqrt(b * b + c), b));
    double f = (first + sp) * (first - sp) + shift, g = first * second;
    for (int64_t j = begin; j < last; ++j) {
      const Givens across(f, g);
      if (j > begin) e[j - 1] = across.length;
      f = across.c * d[j] + across.s * e[j];
      e[j] = across.c * e[j] - across.s * d[j];
      g = across.s * d[j + 1];
      d[j + 1] *= across.c;
      right.add(j, j + 1, across.c, across.s);
      const Givens down(f, g);
      d[j] = down.length;
      f = down.c * e[j] + down.s * d[j + 1];
      d[j + 1] = down.c * d[j + 1] - down.s * e[j];
      if (j + 1 < last) {
        g = down.s * e[j + 1];
        e[j + 1] *= down.c;
      }
      left.add(j, j + 1, down.c, down.s);
    }
    e[last - 1] = f;
  }
  return true;
}

// Of a square matrix; u and vh as large, or without data.
template <typename T>
bool square_values(ThreadPool& pool, Matrix<T> a, Matrix<T> u, Real<T>* values, Matrix<T> vh) {
  const int64_t n = a.rows;
  const auto count = static_cast<size_t>(n);
  ScratchVector<double> d(count), e(count);
  ScratchVector<T> tau_left(count), tau_right(count);
  ScratchMatrix<T> right(n, n);
  make_bidiagonal(pool, a, right.view(), d.data(), e.data(), tau_left.data(), tau_right.data());
  const bool wants = u.data != nullptr;
  ScratchMatrix<T> p(wants ? n : 0, wants ? n : 0), q(wants ? n : 0, wants ? n : 0);
  if (wants) {
    set_identity(q.view());
    apply_q(pool, a, tau_left.data(), n, q.view());
    set_identity(p.view());
    apply_q(pool, right.view(), tau_right.data(), n - 1, p.view(), {.below = 1});
  }
  Rotations<T> left_turns(pool, q), right_turns(pool, p);
  if (!iterate_bidiagonal(n, d.data(), e.data(), left_turns, right_turns)) return false;
  left_turns.apply();
  right_turns.apply();
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](int64_t i) { return std::abs(d[static_cast<size_t>(i)]); };
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return size(x) > size(y); });
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = order[static_cast<size_t>(i)];
    values[i] = static_cast<Real<T>>(size(from));
    if (!wants) continue;
    const T sign = d[static_cast<size_t>(from)] < 0 ? T(-1) : T(1);
    for (int64_t r = 0; r < n; ++r) {
      u(r, i) = q.view()(r, from);
      vh(i, r) = times(sign, conjugate(p.view()(r, from)));
    }
  }
  return true;
}

}  // namespace

template <typename T>
bool singular_values(ThreadPool& pool, Matrix<T> a, Matrix<T> u, Real<T>* values, Matrix<T> vh) {
  const int64_t m = a.rows, n = a.columns;
  const bool wants = u.data != nullptr;
  if (m == n) return n == 0 || square_values(pool, a, u, values, vh);
  if (m < n) {  // a^H = v * s * u^H
    ScratchMatrix<T> adjoint(n, m);
    copy(a.transposed(), adjoint.view());
    conjugate_all(adjoint.view());
    if (!singular_values(pool, adjoint.view(), wants ? vh.transposed() : vh, values,
                         wants ? u.transposed() : u)) {
      return false;
    }
    if (wants) {
      conjugate_all(u);
      conjugate_all(vh);
    }
    return true;
  }
  ScratchVector<T> tau(static_cast<size_t>(n));
  factor_qr(pool, a, tau.data());
  ScratchMatrix<T> triangle(n, n);
  for (int64_t c = 0; c < n; ++c) {
    for (int64_t r = 0; r < n; ++r) triangle.view()(r, c) = r <= c ? a(r, c) : T(0);
  }
  if (wants) set_identity(u);
  if (!square_values(pool, triangle.view(), wants ? u.block(0, 0, n, n) : u, values, vh)) return false;
  if (wants) apply_q(pool, a, tau.data(), n, u);
  return true;
}

#define FLAMBEAU_MAKE(T) \
  template bool singular_values<T>(ThreadPool&, Matrix<T>, Matrix<T>, Real<T>*, Matrix<T>);
FLAMBEAU_LINALG_TYPES(FLAMBEAU_MAKE)
#undef FLAMBEAU_MAKE

}  // namespace flambeau::kernels::linalg
