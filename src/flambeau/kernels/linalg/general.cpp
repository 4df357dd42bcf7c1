// Eigenvectors of general matrices, out of the Schur form; and exponentials.
#include <vector>

#include "flambeau/kernels/linalg/schur.h"
#include "flambeau/kernels/linalg/spectrum.h"

namespace flambeau::kernels::linalg {
namespace {

using C = std::complex<double>;

// The x of t * x = value * x for the eigenvalue that stands at `k` (of a block of two: its first row).
template <typename T>
class Eigenvectors {
 public:
  Eigenvectors(Matrix<T> t, const C* values) : t_(t), values_(values), n_(t.rows) {
    for (int64_t c = 0; c < n_; ++c) {
      for (int64_t r = 0; r < n_ && r <= c + 1; ++r) norm_ = std::max(norm_, magnitude(t_(r, c)));
    }
  }

  bool is_pair(int64_t k) const { return !kIsComplex<T> && k + 1 < n_ && t_(k + 1, k) != T(0); }

  void find(int64_t k, C* x) const {
    const C value = values_[k];
    std::fill_n(x, n_, C(0));
    // Where a difference of eigenvalues is nothing, almost nothing: the directions stay.
    constexpr double kEps = std::numeric_limits<double>::epsilon();
    const double least =
        std::max({kEps * norm_, kEps * std::abs(value), std::numeric_limits<double>::min() / kEps});
    x[k] = 1;
    if (is_pair(k)) {
      if (std::abs(t_(k, k + 1)) >= std::abs(t_(k + 1, k))) {
        x[k + 1] = (value - C(t_(k, k))) / C(t_(k, k + 1));
      } else {
        x[k + 1] = 1;
        x[k] = (value - C(t_(k + 1, k + 1))) / C(t_(k + 1, k));
      }
      subtract(k + 1, k, x);
    }
    subtract(k, k, x);
    for (int64_t i = k - 1; i >= 0; --i) {
      if (i > 0 && is_pair(i - 1)) {
        const C a = C(t_(i - 1, i - 1)) - value, b = t_(i - 1, i), c = t_(i, i - 1), d = C(t_(i, i)) - value;
        C determinant = times(a, d) - times(b, c);
        if (std::abs(determinant) < least * least) determinant = least * least;
        const C first = x[i - 1], second = x[i];
        x[i - 1] = (times(d, first) - times(b, second)) / determinant;
        x[i] = (times(a, second) - times(c, first)) / determinant;
        limit(k, std::max(std::abs(x[i]), std::abs(x[i - 1])), x);
        subtract(i, i - 1, x);
        subtract(i - 1, i - 1, x);
        --i;
      } else {
        C difference = C(t_(i, i)) - value;
        if (magnitude(difference) < least) difference = least;
        x[i] = x[i] / difference;
        limit(k, std::abs(x[i]), x);
        subtract(i, i, x);
      }
    }
  }

 private:
  // What x[column] adds to the rows above `rows` goes to their right side.
  void subtract(int64_t column, int64_t rows, C* x) const {
    const T* const t = t_.column(column);
    const C by = x[column];
    for (int64_t r = 0; r < rows; ++r) {
      if constexpr (kIsComplex<T>) {
        x[r] -= times(t[r], by);
      } else {
        x[r] -= t[r] * by;
      }
    }
  }
  void limit(int64_t k, double size, C* x) const {
    if (size < 1e100) return;
    for (int64_t i = 0; i < std::min(k + 2, n_); ++i) x[i] /= size;
  }

  Matrix<T> t_;
  const C* values_;
  int64_t n_;
  double norm_ = 0;
};

// Length 1, and the largest of complex numbers real: what others give, too.
void normalize(int64_t n, C* x, bool is_real) {
  const double length = norm(n, x);
  if (length == 0) return;
  C factor = 1 / length;
  if (!is_real) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (std::norm(x[i]) > std::norm(x[best])) best = i;
    }
    factor *= std::conj(x[best]) / std::abs(x[best]);
    for (int64_t i = 0; i < n; ++i) x[i] = times(x[i], factor);
    x[best] = x[best].real();
    return;
  }
  for (int64_t i = 0; i < n; ++i) x[i] *= factor.real();
}

template <typename R>
void split(Matrix<C> from, Matrix<R> re, Matrix<R> im) {
  for (int64_t c = 0; c < from.columns; ++c) {
    for (int64_t r = 0; r < from.rows; ++r) {
      re(r, c) = from(r, c).real();
      im(r, c) = from(r, c).imag();
    }
  }
}

}  // namespace

template <typename T>
bool eigen_general(ThreadPool& pool, Matrix<T> a, C* values, Matrix<C> vectors) {
  const int64_t n = a.rows;
  if (n == 0) return true;
  const bool wants = vectors.data != nullptr;
  ScratchMatrix<T> z(wants ? n : 0, wants ? n : 0);
  Matrix<T> transformation = z;
  if (!wants) transformation.data = nullptr;
  make_hessenberg(pool, a, transformation);
  if (!iterate_schur(a, transformation, values)) return false;
  if (!wants) return true;
  ScratchMatrix<C> scratch(n, n);
  const Matrix<C> x = scratch;
  const Eigenvectors<T> eigenvectors(a, values);
  for (int64_t k = 0; k < n; ++k) {
    poll_work();
    eigenvectors.find(k, x.column(k));
    if (!eigenvectors.is_pair(k)) continue;
    for (int64_t i = 0; i < n; ++i) x(i, k + 1) = std::conj(x(i, k));
    ++k;
  }
  if constexpr (kIsComplex<T>) {
    product<C>(pool, z, x, vectors);
  } else {
    ScratchMatrix<double> re(n, n), im(n, n), out(n, n);
    split<double>(x, re, im);
    product<double>(pool, z, re, out);
    for (int64_t c = 0; c < n; ++c) {
      for (int64_t r = 0; r < n; ++r) vectors(r, c) = out.view()(r, c);
    }
    product<double>(pool, z, im, out);
    for (int64_t c = 0; c < n; ++c) {
      for (int64_t r = 0; r < n; ++r) vectors(r, c).imag(out.view()(r, c));
    }
  }
  ScratchVector<C> column(static_cast<size_t>(n));
  for (int64_t c = 0; c < n; ++c) {
    for (int64_t r = 0; r < n; ++r) column[static_cast<size_t>(r)] = vectors(r, c);
    normalize(n, column.data(), !kIsComplex<T> && values[c].imag() == 0);
    for (int64_t r = 0; r < n; ++r) vectors(r, c) = column[static_cast<size_t>(r)];
  }
  return true;
}

template <typename T>
void exponential(ThreadPool& pool, Matrix<T> a) {
  const int64_t n = a.rows;
  if (n == 0) return;
  double largest = 0;
  for (int64_t c = 0; c < n; ++c) {
    double sum = 0;
    for (int64_t r = 0; r < n; ++r) sum += std::abs(a(r, c));
    if (!(sum <= largest)) largest = sum;
  }
  if (!std::isfinite(largest)) {
    for (int64_t c = 0; c < n; ++c) {
      for (int64_t r = 0; r < n; ++r) a(r, c) = T(std::numeric_limits<double>::quiet_NaN());
    }
    return;
  }
  // The first powers, and then four terms of the series at a time: 17 terms leave less than 1e-17 of a norm
  // of 3/4.
  constexpr int kTerms = 16;
  constexpr double kMost = 0.75;
  const int squarings = largest > kMost ? static_cast<int>(std::ceil(std::log2(largest / kMost))) : 0;
  ScratchMatrix<T> powers[5] = {{0, 0}, {n, n}, {n, n}, {n, n}, {n, n}};
  const double scale = std::ldexp(1.0, -squarings);
  for (int64_t c = 0; c < n; ++c) {
    for (int64_t r = 0; r < n; ++r) powers[1].view()(r, c) = a(r, c) * scale;
  }
  product<T>(pool, powers[1], powers[1], powers[2]);
  product<T>(pool, powers[2], powers[1], powers[3]);
  product<T>(pool, powers[2], powers[2], powers[4]);
  double factorial[kTerms + 1] = {1};
  for (int i = 1; i <= kTerms; ++i) factorial[i] = factorial[i - 1] * i;
  ScratchMatrix<T> scratch(n, n), other(n, n);
  Matrix<T> sum = scratch, next = other;
  for (int64_t i = 0; i < n; ++i) sum(i, i) = T(1 / factorial[kTerms]);
  for (int first = kTerms - 4; first >= 0; first -= 4) {
    poll_work();
    product<T>(pool, powers[4], sum, next);
    for (int64_t c = 0; c < n; ++c) {
      for (int64_t r = 0; r < n; ++r) {
        T more = r == c ? T(1 / factorial[first]) : T(0);
        for (int i = 1; i < 4; ++i) more += powers[i].view()(r, c) / factorial[first + i];
        next(r, c) += more;
      }
    }
    std::swap(sum, next);
  }
  for (int i = 0; i < squarings; ++i) {
    poll_work();
    product<T>(pool, sum, sum, next);
    std::swap(sum, next);
  }
  copy(sum, a);
}

template void exponential<double>(ThreadPool&, Matrix<double>);
template void exponential<C>(ThreadPool&, Matrix<C>);
template bool eigen_general<double>(ThreadPool&, Matrix<double>, C*, Matrix<C>);
template bool eigen_general<C>(ThreadPool&, Matrix<C>, C*, Matrix<C>);

}  // namespace flambeau::kernels::linalg
