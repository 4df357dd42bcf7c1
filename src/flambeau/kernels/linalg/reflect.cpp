#include "flambeau/kernels/linalg/reflect.h"

#include <vector>

#include "flambeau/kernels/linalg/loops.h"

namespace flambeau::kernels::linalg {
namespace {

constexpr int64_t kBlock = 32;

// b becomes (I - tau * v * v^H) * b; v has its 1 here.
template <typename T>
void reflect(T tau, const T* v, Matrix<T> b) {
  if (tau == T(0)) return;
  const Loops<T>& loop = loops<T>();
  WorkPoller poll;
  for (int64_t c = 0; c < b.columns; ++c) {
    poll(static_cast<size_t>(b.rows));
    const T sum = loop.dot(b.rows, v, b.column(c));
    loop.add(b.rows, -times(tau, sum), v, b.column(c));
  }
}

template <typename T>
void factor_panel(Matrix<T> a, T* tau) {
  for (int64_t k = 0; k < a.shorter_side(); ++k) {
    poll_work();
    T* const column = a.column(k) + k;
    tau[k] = make_reflection(column[0], a.rows - k - 1, column + 1);
    if (k + 1 == a.columns) break;
    const T beta = column[0];
    column[0] = T(1);
    reflect(conjugate(tau[k]), column, a.block(k, k + 1, a.rows - k, a.columns - k - 1));
    column[0] = beta;
  }
}

// Some reflections as one: I - v * t * v^H.
template <typename T>
class Block {
 public:
  Block(ThreadPool& pool, Matrix<T> a, const T* tau, int64_t count)
      : pool_(pool), v_(a.rows, count), conjugated_(kIsComplex<T> ? a.rows : 0, count), t_(count, count) {
    const Matrix<T> v = v_, t = t_;
    for (int64_t c = 0; c < count; ++c) {
      poll_work();
      for (int64_t r = 0; r < a.rows; ++r) v(r, c) = r < c ? T(0) : r == c ? T(1) : a(r, c);
    }
    for (int64_t c = 0; c < count; ++c) {
      poll_work();
      for (int64_t r = 0; r < c; ++r)
        t(r, c) = -times(tau[c], loops<T>().dot(a.rows - c, v.column(r) + c, v.column(c) + c));
      for (int64_t r = 0; r < c; ++r) {
        T sum = 0;
        for (int64_t k = r; k < c; ++k) sum += times(t(r, k), t(k, c));
        t(r, c) = sum;
      }
      t(c, c) = tau[c];
      for (int64_t r = c + 1; r < count; ++r) t(r, c) = T(0);
    }
    if constexpr (kIsComplex<T>) {
      copy(v, conjugated_.view());
      conjugate_all(conjugated_.view());
    }
  }

  void apply(Matrix<T> b, bool is_left, bool is_adjoint) {
    if (b.rows == 0 || b.columns == 0) return;
    const Matrix<T> v = v_;
    const Matrix<T> adjoint = (kIsComplex<T> ? conjugated_.view() : v).transposed();
    ScratchMatrix<T> turned_t(v.columns, v.columns);
    copy(is_adjoint ? t_.view().transposed() : t_.view(), turned_t.view());
    if (is_adjoint) conjugate_all(turned_t.view());
    const int64_t rows = is_left ? v.columns : b.rows, columns = is_left ? b.columns : v.columns;
    ScratchMatrix<T> sums(rows, columns), factors(rows, columns);
    if (is_left) {
      product<T>(pool_, adjoint, b, sums);
      product<T>(pool_, turned_t, sums, factors);
      product<T>(pool_, v, factors, b, T(-1), T(1));
    } else {
      product<T>(pool_, b, v, sums);
      product<T>(pool_, sums, turned_t, factors);
      product<T>(pool_, factors, adjoint, b, T(-1), T(1));
    }
  }

 private:
  ThreadPool& pool_;
  ScratchMatrix<T> v_;
  ScratchMatrix<T> conjugated_;
  ScratchMatrix<T> t_;
};

}  // namespace

template <typename T>
T make_reflection(T& alpha, int64_t count, T* x) {
  using R = Real<T>;
  const R length = norm(count, x);
  if (length == 0 && std::imag(alpha) == 0) return T(0);
  const T both[] = {alpha, T(length)};
  const R beta = -std::copysign(norm(2, both), real_part(alpha));
  T tau;
  if constexpr (kIsComplex<T>) {
    tau = {(beta - alpha.real()) / beta, -alpha.imag() / beta};
  } else {
    tau = (beta - alpha) / beta;
  }
  const T divisor = alpha - T(beta);
  if (magnitude(divisor) > std::numeric_limits<R>::min() * 4) {
    const T factor = T(1) / divisor;
    for (int64_t i = 0; i < count; ++i) x[i] = times(x[i], factor);
  } else {
    for (int64_t i = 0; i < count; ++i) x[i] = x[i] / divisor;
  }
  alpha = T(beta);
  return tau;
}

template <typename T>
void factor_qr(ThreadPool& pool, Matrix<T> a, T* tau) {
  const int64_t side = a.shorter_side();
  if (side <= kBlock) return factor_panel(a, tau);
  for (int64_t k = 0; k < side; k += kBlock) {
    poll_work();
    const int64_t width = std::min(kBlock, side - k), rest = a.columns - k - width;
    const Matrix<T> panel = a.block(k, k, a.rows - k, width);
    factor_panel(panel, tau + k);
    if (rest > 0)
      Block<T>(pool, panel, tau + k, width).apply(a.block(k, k + width, panel.rows, rest), true, true);
  }
}

template <typename T>
void factor_qr_ordered(Matrix<T> a, T* tau, int32_t* order) {
  using R = Real<T>;
  // What is left of each column's norm, and what it was when it was last summed up.
  ScratchVector<R> left(static_cast<size_t>(a.columns)), summed(left.size());
  for (int64_t c = 0; c < a.columns; ++c) {
    order[c] = static_cast<int32_t>(c);
    left[static_cast<size_t>(c)] = summed[static_cast<size_t>(c)] = norm(a.rows, a.column(c));
  }
  for (int64_t k = 0; k < a.shorter_side(); ++k) {
    poll_work();
    const int64_t best = std::max_element(left.begin() + k, left.end()) - left.begin();
    if (best != k) {
      for (int64_t r = 0; r < a.rows; ++r) std::swap(a(r, k), a(r, best));
      std::swap(order[k], order[best]);
      left[static_cast<size_t>(best)] = left[static_cast<size_t>(k)];
      summed[static_cast<size_t>(best)] = summed[static_cast<size_t>(k)];
    }
    T* const column = a.column(k) + k;
    tau[k] = make_reflection(column[0], a.rows - k - 1, column + 1);
    const T beta = column[0];
    column[0] = T(1);
    reflect(conjugate(tau[k]), column, a.block(k, k + 1, a.rows - k, a.columns - k - 1));
    column[0] = beta;
    for (int64_t c = k + 1; c < a.columns; ++c) {
      R& rest = left[static_cast<size_t>(c)];
      R& sum = summed[static_cast<size_t>(c)];
      if (rest == 0) continue;
      const R gone = std::abs(a(k, c)) / rest, share = std::max(R(0), (1 + gone) * (1 - gone));
      if (share * (rest / sum) * (rest / sum) > std::sqrt(kEpsilon<T>)) {
        rest *= std::sqrt(share);
      } else {  // too few digits are left
        rest = sum = norm(a.rows - k - 1, a.column(c) + k + 1);
      }
    }
  }
}

template <typename T>
void apply_q(ThreadPool& pool, Matrix<T> a, const T* tau, int64_t count, Matrix<T> b, Side side) {
  const bool is_backward = side.is_left != side.is_adjoint;
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  for (int64_t i = 0; i < blocks; ++i) {
    poll_work();
    const int64_t k = (is_backward ? blocks - 1 - i : i) * kBlock;
    const int64_t width = std::min(kBlock, count - k), from = k + side.below;
    Block<T> block(pool, a.block(from, k, a.rows - from, width), tau + k, width);
    block.apply(side.is_left ? b.block(from, 0, b.rows - from, b.columns)
                             : b.block(0, from, b.rows, b.columns - from),
                side.is_left, side.is_adjoint);
  }
}

#define FLAMBEAU_MAKE(T)                                       \
  template T make_reflection<T>(T&, int64_t, T*);              \
  template void factor_qr<T>(ThreadPool&, Matrix<T>, T*);      \
  template void factor_qr_ordered<T>(Matrix<T>, T*, int32_t*); \
  template void apply_q<T>(ThreadPool&, Matrix<T>, const T*, int64_t, Matrix<T>, Side);
FLAMBEAU_LINALG_TYPES(FLAMBEAU_MAKE)
#undef FLAMBEAU_MAKE

}  // namespace flambeau::kernels::linalg
