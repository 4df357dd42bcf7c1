#include "flambeau/kernels/linalg/schur.h"

#include "flambeau/kernels/linalg/loops.h"
#include "flambeau/kernels/linalg/reflect.h"

namespace flambeau::kernels::linalg {
namespace {

constexpr double kRounding = std::numeric_limits<double>::epsilon();
constexpr int kMostTurns = 300;  // for one eigenvalue

// Francis' iteration with two shifts at once, which stays real.
class RealSchur {
 public:
  RealSchur(Matrix<double> h, Matrix<double> z, std::complex<double>* values)
      : h_(h), z_(z), values_(values), n_(h.rows), is_whole_(z.data != nullptr) {
    for (int64_t c = 0; c < n_; ++c) {
      for (int64_t r = 0; r <= std::min(c + 1, n_ - 1); ++r) norm_ += std::abs(h_(r, c));
    }
  }

  bool run() {
    int turn = 0;
    for (int64_t end = n_ - 1; end >= 0;) {
      poll_work();
      const int64_t begin = find_begin(end);
      if (begin > 0) {
        if (begin >= end - 1) h_(begin, begin - 1) = 0;
      }
      if (begin == end) {
        h_(end, end) += shifted_;
        values_[end] = h_(end, end);
        end -= 1;
        turn = 0;
      } else if (begin == end - 1) {
        split_pair(end);
        end -= 2;
        turn = 0;
      } else {
        if (++turn > kMostTurns) return false;
        choose_shift(end, turn);
        sweep(begin, find_start(begin, end), end);
      }
    }
    return true;
  }

 private:
  int64_t find_begin(int64_t end) const {
    int64_t l = end;
    for (; l > 0; --l) {
      double around = std::abs(h_(l - 1, l - 1)) + std::abs(h_(l, l));
      if (around == 0) around = norm_;
      if (!(std::abs(h_(l, l - 1)) >= kRounding * around) || h_(l, l - 1) == 0) break;
    }
    return l;
  }

  void turn_rows(int64_t k, double q, double p, int64_t from, int64_t to) {
    for (int64_t c = from; c < to; ++c) {
      const double kept = h_(k, c);
      h_(k, c) = q * kept + p * h_(k + 1, c);
      h_(k + 1, c) = q * h_(k + 1, c) - p * kept;
    }
  }
  static void turn_columns(Matrix<double> m, int64_t k, double q, double p, int64_t rows) {
    for (int64_t r = 0; r < rows; ++r) {
      const double kept = m(r, k);
      m(r, k) = q * kept + p * m(r, k + 1);
      m(r, k + 1) = q * m(r, k + 1) - p * kept;
    }
  }

  void split_pair(int64_t end) {
    const double w = h_(end, end - 1) * h_(end - 1, end);
    const double p = (h_(end - 1, end - 1) - h_(end, end)) / 2, q = p * p + w;
    double z = std::sqrt(std::abs(q));
    h_(end, end) += shifted_;
    h_(end - 1, end - 1) += shifted_;
    const double x = h_(end, end);
    if (q < 0) {
      values_[end - 1] = {x + p, z};
      values_[end] = {x + p, -z};
      return;
    }
    z = p >= 0 ? p + z : p - z;
    values_[end - 1] = x + z;
    values_[end] = z != 0 ? x - w / z : x + z;
    if (is_whole_) {
      const double below = h_(end, end - 1), length = std::hypot(below, z);
      const double sine = length == 0 ? 0 : below / length, cosine = length == 0 ? 1 : z / length;
      turn_rows(end - 1, cosine, sine, end - 1, n_);
      turn_columns(h_, end - 1, cosine, sine, end + 1);
      turn_columns(z_, end - 1, cosine, sine, n_);
    }
    h_(end, end - 1) = 0;
  }

  void choose_shift(int64_t end, int turn) {
    x_ = h_(end, end);
    y_ = h_(end - 1, end - 1);
    w_ = h_(end, end - 1) * h_(end - 1, end);
    const auto shift_all = [&](double by) {
      for (int64_t i = 0; i <= end; ++i) h_(i, i) -= by;
      shifted_ += by;
    };
    // Shifts that repeat themselves are left by others.
    if (turn % 20 == 10) {
      shift_all(x_);
      const double s = std::abs(h_(end, end - 1)) + std::abs(h_(end - 1, end - 2));
      x_ = y_ = 0.75 * s;
      w_ = -0.4375 * s * s;
    } else if (turn % 40 == 30) {
      double s = (y_ - x_) / 2;
      s = s * s + w_;
      if (s > 0) {
        s = std::copysign(std::sqrt(s), y_ - x_);
        s = x_ - w_ / ((y_ - x_) / 2 + s);
        shift_all(s);
        x_ = y_ = w_ = 0.964;
      }
    }
  }

  // Two small numbers in a row let the sweep begin later.
  int64_t find_start(int64_t begin, int64_t end) {
    int64_t m = end - 2;
    for (;; --m) {
      const double z = h_(m, m);
      r_ = x_ - z;
      const double s = y_ - z;
      p_ = (r_ * s - w_) / h_(m + 1, m) + h_(m, m + 1);
      q_ = h_(m + 1, m + 1) - z - r_ - s;
      r_ = h_(m + 2, m + 1);
      const double scale = std::abs(p_) + std::abs(q_) + std::abs(r_);
      p_ /= scale;
      q_ /= scale;
      r_ /= scale;
      if (m == begin) break;
      const double around = std::abs(h_(m - 1, m - 1)) + std::abs(z) + std::abs(h_(m + 1, m + 1));
      if (std::abs(h_(m, m - 1)) * (std::abs(q_) + std::abs(r_)) < kRounding * std::abs(p_) * around) break;
    }
    for (int64_t i = m + 2; i <= end; ++i) {
      h_(i, i - 2) = 0;
      if (i > m + 2) h_(i, i - 3) = 0;
    }
    return m;
  }

  void sweep(int64_t begin, int64_t start, int64_t end) {
    double p = p_, q = q_, r = r_, x = 0;
    for (int64_t k = start; k < end; ++k) {
      const bool has_third = k != end - 1;
      if (k != start) {
        p = h_(k, k - 1);
        q = h_(k + 1, k - 1);
        r = has_third ? h_(k + 2, k - 1) : 0;
        x = std::abs(p) + std::abs(q) + std::abs(r);
        if (x == 0) continue;
        p /= x;
        q /= x;
        r /= x;
      }
      const double s = std::copysign(std::sqrt(p * p + q * q + r * r), p);
      if (s == 0 || !std::isfinite(s)) continue;
      if (k != start) {
        h_(k, k - 1) = -s * x;
      } else if (begin != start) {
        h_(k, k - 1) = -h_(k, k - 1);
      }
      p += s;
      const Reflection turn{p / s, q / s, has_third ? r / s : 0, q / p, has_third ? r / p : 0};
      reflect_rows(k, turn, has_third, is_whole_ ? n_ : end + 1);
      reflect_columns(h_, k, turn, has_third, is_whole_ ? 0 : begin, std::min(end, k + 3) + 1);
      if (is_whole_) reflect_columns(z_, k, turn, has_third, 0, n_);
    }
  }

  struct Reflection {
    double x, y, z, q, r;
  };
  void reflect_rows(int64_t k, const Reflection& t, bool has_third, int64_t to) {
    for (int64_t c = k; c < to; ++c) {
      double* const at = &h_(k, c);
      double sum = at[0] + t.q * at[1];
      if (has_third) {
        sum += t.r * at[2];
        at[2] -= sum * t.z;
      }
      at[0] -= sum * t.x;
      at[1] -= sum * t.y;
    }
  }
  static void reflect_columns(Matrix<double> m, int64_t k, const Reflection& t, bool has_third, int64_t from,
                              int64_t to) {
    double* const a = m.column(k);
    double* const b = m.column(k + 1);
    double* const c = has_third ? m.column(k + 2) : b;
    if (!has_third) {
      for (int64_t i = from; i < to; ++i) {
        const double sum = t.x * a[i] + t.y * b[i];
        a[i] -= sum;
        b[i] -= sum * t.q;
      }
      return;
    }
#pragma GCC ivdep
    for (int64_t i = from; i < to; ++i) {
      const double sum = t.x * a[i] + t.y * b[i] + t.z * c[i];
      a[i] -= sum;
      b[i] -= sum * t.q;
      c[i] -= sum * t.r;
    }
  }

  Matrix<double> h_, z_;
  std::complex<double>* values_;
  int64_t n_;
  bool is_whole_;
  double norm_ = 0, shifted_ = 0;
  double x_ = 0, y_ = 0, w_ = 0, p_ = 0, q_ = 0, r_ = 0;
};

// With one shift, by plane rotations.
class ComplexSchur {
 public:
  using C = std::complex<double>;
  ComplexSchur(Matrix<C> h, Matrix<C> z, C* values) : h_(h), z_(z), values_(values), n_(h.rows) {}

  bool run() {
    int turn = 0;
    for (int64_t end = n_ - 1; end >= 0;) {
      poll_work();
      int64_t begin = end;
      while (begin > 0) {
        double around = magnitude(h_(begin - 1, begin - 1)) + magnitude(h_(begin, begin));
        if (around == 0) around = std::numeric_limits<double>::min();
        if (!(magnitude(h_(begin, begin - 1)) >= kRounding * around)) break;
        --begin;
      }
      if (begin > 0) h_(begin, begin - 1) = 0;
      if (begin == end) {
        values_[end] = h_(end, end);
        --end;
        turn = 0;
        continue;
      }
      if (++turn > kMostTurns) return false;
      sweep(begin, end, turn % 10 == 0 ? h_(end, end) + std::abs(h_(end, end - 1)) : shift(end));
    }
    return true;
  }

 private:
  // Of the two eigenvalues of the last two rows, that which is nearer to the last number.
  C shift(int64_t end) const {
    const C a = h_(end - 1, end - 1), b = h_(end - 1, end), c = h_(end, end - 1), d = h_(end, end);
    const C half = (a - d) / 2.0, root = std::sqrt(times(half, half) + times(b, c));
    const C down = magnitude(half + root) > magnitude(half - root) ? half + root : half - root;
    return down == C(0) ? d : d - times(b, c) / down;
  }

  void sweep(int64_t begin, int64_t end, C by) {
    const int64_t whole = z_.data != nullptr ? n_ : end + 1, top = z_.data != nullptr ? 0 : begin;
    for (int64_t i = begin; i <= end; ++i) h_(i, i) -= by;
    double c = 1;
    C s = 0;
    for (int64_t k = begin; k < end; ++k) {
      const double a = std::abs(h_(k, k)), b = std::abs(h_(k + 1, k)), length = std::hypot(a, b);
      const double before_c = c;
      const C before_s = s;
      if (length == 0) {
        c = 1;
        s = 0;
      } else {
        const C direction = a == 0 ? C(1) : h_(k, k) / a;
        c = a / length;
        s = times(direction, std::conj(h_(k + 1, k))) / length;
      }
      for (int64_t j = k; j < whole; ++j) {
        const C x = h_(k, j), y = h_(k + 1, j);
        h_(k, j) = c * x + times(s, y);
        h_(k + 1, j) = c * y - times(std::conj(s), x);
      }
      // The rotation before this one is free to come from the right now.
      if (k > begin) turn_columns(h_, k - 1, before_c, before_s, top, k + 1);
      if (k > begin && z_.data != nullptr) turn_columns(z_, k - 1, before_c, before_s, 0, n_);
    }
    turn_columns(h_, end - 1, c, s, top, end + 1);
    if (z_.data != nullptr) turn_columns(z_, end - 1, c, s, 0, n_);
    for (int64_t i = begin; i <= end; ++i) h_(i, i) += by;
  }
  static void turn_columns(Matrix<C> m, int64_t k, double c, C s, int64_t from, int64_t to) {
    C* const a = m.column(k);
    C* const b = m.column(k + 1);
    for (int64_t i = from; i < to; ++i) {
      const C x = a[i], y = b[i];
      a[i] = c * x + times(std::conj(s), y);
      b[i] = c * y - times(s, x);
    }
  }

  Matrix<C> h_, z_;
  C* values_;
  int64_t n_;
};

}  // namespace

template <typename T>
void make_hessenberg(ThreadPool& pool, Matrix<T> a, Matrix<T> z) {
  const int64_t n = a.rows;
  const Loops<T>& loop = loops<T>();
  const auto count = static_cast<size_t>(n);
  ScratchVector<T> v(count), y(count), tau(count);
  for (int64_t k = 0; k + 2 < n; ++k) {
    poll_work();
    const int64_t rest = n - k - 1;
    T* const below = &a(k + 1, k);
    const T t = make_reflection(below[0], rest - 1, below + 1);
    tau[static_cast<size_t>(k)] = t;
    v[0] = T(1);
    std::copy_n(below + 1, rest - 1, v.data() + 1);
    const Cost cost{.operations = static_cast<double>(n) * 2,
                    .bytes = static_cast<double>(n) * sizeof(T) * 2};
    pool.for_each_range(count, cost.grain(), [&](size_t begin, size_t end) {
      const auto from = static_cast<int64_t>(begin), rows = static_cast<int64_t>(end - begin);
      std::fill_n(y.data() + from, rows, T(0));
      loop.multiply(rows, rest, a.column(k + 1) + from, a.column_step, v.data(), y.data() + from);
    });
    pool.for_each_range(static_cast<size_t>(rest), cost.grain(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        T* const column = a.column(k + 1 + static_cast<int64_t>(i));
        loop.add(n, -times(t, conjugate(v[i])), y.data(), column);
        const T sum = loop.dot(rest, v.data(), column + k + 1);
        loop.add(rest, -times(conjugate(t), sum), v.data(), column + k + 1);
      }
    });
  }
  if (z.data != nullptr && n > 2) {
    set_identity(z);
    apply_q(pool, a, tau.data(), n - 2, z, {.below = 1});
  } else if (z.data != nullptr) {
    set_identity(z);
  }
  for (int64_t c = 0; c < n; ++c) {
    for (int64_t r = c + 2; r < n; ++r) a(r, c) = T(0);
  }
}

bool iterate_schur(Matrix<double> h, Matrix<double> z, std::complex<double>* values) {
  return RealSchur(h, z, values).run();
}
bool iterate_schur(Matrix<std::complex<double>> h, Matrix<std::complex<double>> z,
                   std::complex<double>* values) {
  return ComplexSchur(h, z, values).run();
}

template void make_hessenberg<double>(ThreadPool&, Matrix<double>, Matrix<double>);
template void make_hessenberg<std::complex<double>>(ThreadPool&, Matrix<std::complex<double>>,
                                                    Matrix<std::complex<double>>);

}  // namespace flambeau::kernels::linalg
