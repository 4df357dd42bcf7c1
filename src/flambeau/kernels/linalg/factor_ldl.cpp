// Symmetric and Hermitian matrices that need not be definite.
#include "flambeau/kernels/linalg/factor.h"
#include "flambeau/kernels/linalg/loops.h"

namespace flambeau::kernels::linalg {
namespace {

template <typename T>
class Ldl {
 public:
  using R = Real<T>;
  Ldl(Matrix<T> a, int32_t* pivots, bool is_hermitian)
      : a_(a), n_(a.rows), pivots_(pivots), is_hermitian_(is_hermitian) {}

  int64_t factor() {
    int64_t failure = 0;
    for (int64_t k = 0; k < n_;) {
      poll_work();
      const Choice choice = choose(k);
      if (choice.is_zero && failure == 0) failure = k + 1;
      const int64_t last = k + choice.width - 1;
      if (choice.row != last) exchange(k, last, choice);
      if (is_hermitian_) {
        for (int64_t i = k; i <= last; ++i) a_(i, i) = T(real_part(a_(i, i)));
      }
      if (!choice.is_zero) choice.width == 1 ? eliminate_one(k) : eliminate_two(k);
      const auto name = static_cast<int32_t>(choice.row + 1);
      for (int64_t i = k; i <= last; ++i) pivots_[i] = choice.width == 1 ? name : -name;
      k += choice.width;
    }
    return failure;
  }

 private:
  struct Choice {
    int64_t row;
    int64_t width = 1;
    bool is_zero = false;
  };

  T turned(T x) const { return is_hermitian_ ? conjugate(x) : x; }
  R size(int64_t r, int64_t c) const {
    return is_hermitian_ && r == c ? std::abs(real_part(a_(r, c))) : magnitude(a_(r, c));
  }

  Choice choose(int64_t k) const {
    const R alpha = (1 + std::sqrt(R(17))) / 8;
    const R diagonal = size(k, k);
    int64_t best = k;
    R largest = 0;
    for (int64_t r = k + 1; r < n_; ++r) {
      if (size(r, k) > largest) {
        largest = size(r, k);
        best = r;
      }
    }
    if (!(std::max(diagonal, largest) > 0)) return {k, 1, true};
    if (diagonal >= alpha * largest) return {k};
    R row = 0;
    for (int64_t c = k; c < best; ++c) row = std::max(row, size(best, c));
    for (int64_t r = best + 1; r < n_; ++r) row = std::max(row, size(r, best));
    if (diagonal >= alpha * largest * (largest / row)) return {k};
    if (size(best, best) >= alpha * row) return {best};
    return {best, 2};
  }

  void exchange(int64_t k, int64_t last, const Choice& choice) {
    const int64_t row = choice.row;
    for (int64_t r = row + 1; r < n_; ++r) std::swap(a_(r, last), a_(r, row));
    for (int64_t i = last + 1; i < row; ++i) {
      const T kept = turned(a_(i, last));
      a_(i, last) = turned(a_(row, i));
      a_(row, i) = kept;
    }
    a_(row, last) = turned(a_(row, last));
    std::swap(a_(last, last), a_(row, row));
    if (is_hermitian_) a_(row, row) = T(real_part(a_(row, row)));
    if (choice.width == 2) std::swap(a_(k + 1, k), a_(row, k));
  }

  void eliminate_one(int64_t k) {
    const T inverse = is_hermitian_ ? T(R(1) / real_part(a_(k, k))) : T(1) / a_(k, k);
    for (int64_t c = k + 1; c < n_; ++c) {
      const T factor = times(inverse, turned(a_(c, k)));
      loops<T>().add(n_ - c, -factor, &a_(c, k), &a_(c, c));
      if (is_hermitian_) a_(c, c) = T(real_part(a_(c, c)));
    }
    for (int64_t r = k + 1; r < n_; ++r) a_(r, k) = times(a_(r, k), inverse);
  }

  void eliminate_two(int64_t k) {
    if (k + 2 >= n_) return;
    T below = a_(k + 1, k);
    T scale = below, unit = T(1);
    if (is_hermitian_) {
      scale = T(std::abs(below));
      unit = below / scale;
    }
    const T second = a_(k + 1, k + 1) / scale, first = a_(k, k) / scale;
    const T factor = T(1) / (times(second, first) - T(1)) / scale;
    for (int64_t c = k + 2; c < n_; ++c) {
      const T w = times(factor, times(second, a_(c, k)) - times(unit, a_(c, k + 1)));
      const T v = times(factor, times(first, a_(c, k + 1)) - times(turned(unit), a_(c, k)));
      loops<T>().add(n_ - c, -turned(w), &a_(c, k), &a_(c, c));
      loops<T>().add(n_ - c, -turned(v), &a_(c, k + 1), &a_(c, c));
      a_(c, k) = w;
      a_(c, k + 1) = v;
      if (is_hermitian_) a_(c, c) = T(real_part(a_(c, c)));
    }
  }

  Matrix<T> a_;
  int64_t n_;
  int32_t* pivots_;
  bool is_hermitian_;
};

}  // namespace

template <typename T>
int64_t factor_ldl(Matrix<T> a, int32_t* pivots, bool is_hermitian) {
  return Ldl<T>(a, pivots, kIsComplex<T> && is_hermitian).factor();
}

template <typename T>
void solve_ldl(Matrix<T> a, const int32_t* pivots, bool is_hermitian, Matrix<T> b) {
  const int64_t n = a.rows;
  const auto turned = [&](T x) { return is_hermitian ? conjugate(x) : x; };
  const auto exchange = [&](int64_t row, int64_t other) {
    if (row == other) return;
    for (int64_t c = 0; c < b.columns; ++c) std::swap(b(row, c), b(other, c));
  };
  const auto subtract_below = [&](int64_t k, int64_t from) {
    for (int64_t c = 0; c < b.columns; ++c) {
      for (int64_t r = from; r < n; ++r) b(r, c) -= times(a(r, k), b(k, c));
    }
  };
  const auto subtract_sum = [&](int64_t k, int64_t from) {
    for (int64_t c = 0; c < b.columns; ++c) {
      for (int64_t r = from; r < n; ++r) b(k, c) -= times(turned(a(r, k)), b(r, c));
    }
  };
  for (int64_t k = 0; k < n;) {
    poll_work();
    if (pivots[k] > 0) {
      exchange(k, pivots[k] - 1);
      subtract_below(k, k + 1);
      const T diagonal = is_hermitian ? T(real_part(a(k, k))) : a(k, k);
      for (int64_t c = 0; c < b.columns; ++c) b(k, c) = b(k, c) / diagonal;
      k += 1;
      continue;
    }
    exchange(k + 1, -pivots[k] - 1);
    subtract_below(k, k + 2);
    subtract_below(k + 1, k + 2);
    const T below = a(k + 1, k);
    const T first = a(k, k) / turned(below), second = a(k + 1, k + 1) / below;
    const T determinant = times(first, second) - T(1);
    for (int64_t c = 0; c < b.columns; ++c) {
      const T x = b(k, c) / turned(below), y = b(k + 1, c) / below;
      b(k, c) = (times(second, x) - y) / determinant;
      b(k + 1, c) = (times(first, y) - x) / determinant;
    }
    k += 2;
  }
  for (int64_t k = n - 1; k >= 0;) {
    const bool is_pair = pivots[k] < 0;
    subtract_sum(k, k + 1);
    if (is_pair) subtract_sum(k - 1, k + 1);
    exchange(k, is_pair ? -pivots[k] - 1 : pivots[k] - 1);
    k -= is_pair ? 2 : 1;
  }
}

#define FLAMBEAU_MAKE(T)                                     \
  template int64_t factor_ldl<T>(Matrix<T>, int32_t*, bool); \
  template void solve_ldl<T>(Matrix<T>, const int32_t*, bool, Matrix<T>);
FLAMBEAU_LINALG_TYPES(FLAMBEAU_MAKE)
#undef FLAMBEAU_MAKE

}  // namespace flambeau::kernels::linalg
