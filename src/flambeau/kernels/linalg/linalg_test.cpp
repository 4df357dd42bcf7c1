// Each factorization put together again, for all types and for sizes around those where blocks begin.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/kernels/linalg/factor.h"
#include "flambeau/kernels/linalg/reflect.h"
#include "flambeau/kernels/linalg/spectrum.h"

namespace flambeau::kernels::linalg {
namespace {

template <typename T>
struct LinalgTest : testing::Test {
  using R = Real<T>;

  ThreadPool pool{2};
  uint32_t state = 1;

  T number() {
    const auto next = [&] {
      state = state * 1664525 + 1013904223;
      return static_cast<R>(state >> 8) / static_cast<R>(1 << 23) - 1;
    };
    if constexpr (kIsComplex<T>) {
      const R re = next();
      return {re, next()};
    } else {
      return next();
    }
  }
  ScratchMatrix<T> any(int64_t rows, int64_t columns) {
    ScratchMatrix<T> a(rows, columns);
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) a.view()(r, c) = number();
    }
    return a;
  }
  ScratchMatrix<T> hermitian(int64_t n) {
    ScratchMatrix<T> a = any(n, n);
    mirror(a.view(), false);
    return a;
  }
  ScratchMatrix<T> adjoint(Matrix<T> a) {
    ScratchMatrix<T> turned(a.columns, a.rows);
    copy(a.transposed(), turned.view());
    conjugate_all(turned.view());
    return turned;
  }
  ScratchMatrix<T> times_(Matrix<T> a, Matrix<T> b) {
    ScratchMatrix<T> out(a.rows, b.columns);
    product(pool, a, b, out.view());
    return out;
  }
  void expect_near(Matrix<T> a, Matrix<T> b, const char* what) {
    ASSERT_EQ(a.rows, b.rows) << what;
    ASSERT_EQ(a.columns, b.columns) << what;
    R largest = 0;
    for (int64_t c = 0; c < a.columns; ++c) {
      for (int64_t r = 0; r < a.rows; ++r) largest = std::max(largest, std::abs(a(r, c) - b(r, c)));
    }
    EXPECT_LE(largest, kEpsilon<T> * static_cast<R>(40 * (a.rows + a.columns + 4))) << what << " " << a.rows;
  }
  void expect_unitary(Matrix<T> a, const char* what) {
    ScratchMatrix<T> turned = adjoint(a), unit(a.columns, a.columns);
    set_identity(unit.view());
    expect_near(times_(turned, a), unit, what);
  }
  // Columns of a, each times its number.
  ScratchMatrix<T> scaled(Matrix<T> a, const std::vector<R>& by) {
    ScratchMatrix<T> out(a.rows, static_cast<int64_t>(by.size()));
    for (int64_t c = 0; c < out.view().columns; ++c) {
      for (int64_t r = 0; r < a.rows; ++r) out.view()(r, c) = a(r, c) * by[static_cast<size_t>(c)];
    }
    return out;
  }
};

using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LinalgTest, Types);

constexpr int64_t kSizes[] = {1, 2, 5, 16, 17, 33, 70};

TYPED_TEST(LinalgTest, TrianglesSolveWhatTheyMultiply) {
  using T = TypeParam;
  for (const int64_t n : kSizes) {
    for (const bool is_upper : {false, true}) {
      ScratchMatrix<T> a = this->any(n, n);
      for (int64_t c = 0; c < n; ++c) {
        for (int64_t r = 0; r < n; ++r) {
          if (r != c) a.view()(r, c) *= Real<T>(1) / static_cast<Real<T>>(n);
          if (is_upper ? r > c : r < c) a.view()(r, c) = T(0);
        }
        a.view()(c, c) += T(3);
      }
      ScratchMatrix<T> x = this->any(n, 3), b = this->times_(a, x);
      solve_triangle<T>(this->pool, a, is_upper, false, b);
      this->expect_near(b, x, "triangle");
      // Rows that lie packed take another way.
      ScratchMatrix<T> wide = this->any(3, n), sums(3, n);
      product<T>(this->pool, a, wide.view().transposed(), sums.view().transposed());
      solve_triangle<T>(this->pool, a, is_upper, false, sums.view().transposed());
      this->expect_near(sums, wide, "triangle, by rows");
    }
  }
}

TYPED_TEST(LinalgTest, LuGivesTheMatrixBack) {
  using T = TypeParam;
  for (const int64_t n : kSizes) {
    for (const int64_t m : {n, n + 20, std::max<int64_t>(1, n - 9)}) {
      ScratchMatrix<T> a = this->any(m, n), factors(m, n);
      copy(a.view(), factors.view());
      const int64_t side = std::min(m, n);
      std::vector<int32_t> pivots(static_cast<size_t>(side));
      EXPECT_EQ(factor_lu<T>(this->pool, factors, pivots.data()), 0);
      ScratchMatrix<T> l(m, side), u(side, n);
      for (int64_t i = 0; i < side; ++i) {
        for (int64_t r = 0; r < m; ++r) l.view()(r, i) = r > i ? factors.view()(r, i) : T(r == i ? 1 : 0);
        for (int64_t c = 0; c < n; ++c) u.view()(i, c) = c >= i ? factors.view()(i, c) : T(0);
      }
      ScratchMatrix<T> back = this->times_(l, u);
      exchange_rows<T>(back, pivots.data(), side, true);
      this->expect_near(back, a, "P * L * U");
    }
  }
}

TYPED_TEST(LinalgTest, FailuresAreNumberedFromOne) {
  using T = TypeParam;
  ScratchMatrix<T> a(40, 40);
  set_identity(a.view());
  a.view()(30, 30) = T(0);
  ScratchMatrix<T> b(40, 40);
  copy(a.view(), b.view());
  std::vector<int32_t> pivots(40);
  EXPECT_EQ(factor_lu<T>(this->pool, a, pivots.data()), 31);
  EXPECT_EQ(factor_cholesky<T>(this->pool, b), 31);
  ScratchMatrix<T> zero(3, 3);
  EXPECT_EQ(factor_ldl<T>(zero, pivots.data(), true), 1);
}

TYPED_TEST(LinalgTest, CholeskyGivesTheMatrixBack) {
  using T = TypeParam;
  for (const int64_t n : kSizes) {
    ScratchMatrix<T> half = this->any(n, n);
    for (int64_t i = 0; i < n * n; ++i) half.view().data[i] *= Real<T>(1) / static_cast<Real<T>>(n);
    ScratchMatrix<T> a = this->times_(half, this->adjoint(half));
    for (int64_t i = 0; i < n; ++i) a.view()(i, i) += T(1);
    ScratchMatrix<T> l(n, n);
    copy(a.view(), l.view());
    EXPECT_EQ(factor_cholesky<T>(this->pool, l), 0);
    for (int64_t c = 0; c < n; ++c) {
      for (int64_t r = 0; r < c; ++r) l.view()(r, c) = T(0);
    }
    this->expect_near(this->times_(l, this->adjoint(l)), a, "L * L^H");
  }
}

TYPED_TEST(LinalgTest, LdlSolves) {
  using T = TypeParam;
  for (const int64_t n : {1, 2, 5, 30}) {
    for (const bool is_hermitian : {false, true}) {
      ScratchMatrix<T> a = this->hermitian(n);
      if (!is_hermitian) {
        for (int64_t c = 0; c < n; ++c) {
          for (int64_t r = 0; r < c; ++r) a.view()(r, c) = a.view()(c, r);
        }
      }
      ScratchMatrix<T> x = this->any(n, 2), b = this->times_(a, x), factors(n, n);
      copy(a.view(), factors.view());
      std::vector<int32_t> pivots(static_cast<size_t>(n));
      EXPECT_EQ(factor_ldl<T>(factors, pivots.data(), is_hermitian), 0);
      solve_ldl<T>(factors, pivots.data(), kIsComplex<T> && is_hermitian, b);
      this->expect_near(this->times_(a, b), this->times_(a, x), "L * D * L^H");
    }
  }
}

TYPED_TEST(LinalgTest, QrGivesTheMatrixBack) {
  using T = TypeParam;
  for (const int64_t n : kSizes) {
    for (const int64_t m : {n, n + 20, std::max<int64_t>(1, n - 9)}) {
      ScratchMatrix<T> a = this->any(m, n), factors(m, n), q(m, m), r(m, n);
      copy(a.view(), factors.view());
      std::vector<T> tau(static_cast<size_t>(std::min(m, n)));
      factor_qr<T>(this->pool, factors, tau.data());
      set_identity(q.view());
      apply_q<T>(this->pool, factors, tau.data(), std::min(m, n), q);
      for (int64_t c = 0; c < n; ++c) {
        for (int64_t row = 0; row <= std::min(c, m - 1); ++row) r.view()(row, c) = factors.view()(row, c);
      }
      this->expect_unitary(q, "Q");
      this->expect_near(this->times_(q, r), a, "Q * R");
      // Q^H from the right takes Q away.
      apply_q<T>(this->pool, factors, tau.data(), std::min(m, n), q, {.is_left = false, .is_adjoint = true});
      ScratchMatrix<T> unit(m, m);
      set_identity(unit.view());
      this->expect_near(q, unit, "Q * Q^H");
    }
  }
}

TYPED_TEST(LinalgTest, HermitianMatricesAreTheirSpectrum) {
  using T = TypeParam;
  for (const int64_t n : kSizes) {
    ScratchMatrix<T> a = this->hermitian(n), v(n, n);
    copy(a.view(), v.view());
    std::vector<Real<T>> values(static_cast<size_t>(n)), alone(values);
    ASSERT_TRUE(eigen_hermitian<T>(this->pool, v, values.data(), true));
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    this->expect_unitary(v, "eigenvectors");
    this->expect_near(this->times_(a, v), this->scaled(v, values), "A * V");
    ASSERT_TRUE(eigen_hermitian<T>(this->pool, a, alone.data(), false));
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(alone[i], values[i]);
  }
}

TYPED_TEST(LinalgTest, SingularVectorsGiveTheMatrixBack) {
  using T = TypeParam;
  for (const int64_t n : kSizes) {
    for (const int64_t m : {n, n + 20, std::max<int64_t>(1, n - 9)}) {
      const int64_t side = std::min(m, n);
      ScratchMatrix<T> a = this->any(m, n), work(m, n), u(m, m), vh(n, n);
      copy(a.view(), work.view());
      std::vector<Real<T>> values(static_cast<size_t>(side));
      ASSERT_TRUE(singular_values<T>(this->pool, work, u, values.data(), vh));
      EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
      EXPECT_GE(values.back(), 0);
      this->expect_unitary(u, "U");
      this->expect_unitary(vh, "V");
      this->expect_near(this->times_(this->scaled(u, values), vh.view().block(0, 0, side, n)), a,
                        "U * S * V");
    }
  }
}

TYPED_TEST(LinalgTest, SingularValuesOfFewDirections) {
  using T = TypeParam;
  ScratchMatrix<T> a = this->times_(this->any(30, 3), this->any(3, 25)), zero(4, 4);
  std::vector<Real<T>> values(25), none(4, 1);
  ASSERT_TRUE(singular_values<T>(this->pool, a, {}, values.data(), {}));
  EXPECT_GT(values[2], Real<T>(0.1));
  EXPECT_LT(values[3], kEpsilon<T> * 200);
  ASSERT_TRUE(singular_values<T>(this->pool, zero, {}, none.data(), {}));
  EXPECT_EQ(none, std::vector<Real<T>>(4, 0));
}

template <typename T>
void expect_eigenvectors(LinalgTest<T>& test, ScratchMatrix<T> a) {
  using C = std::complex<double>;
  const int64_t n = a.view().rows;
  ScratchMatrix<T> work(n, n);
  copy(a.view(), work.view());
  std::vector<C> values(static_cast<size_t>(n));
  ScratchMatrix<C> v(n, n);
  ASSERT_TRUE(eigen_general<T>(test.pool, work, values.data(), v));
  for (int64_t k = 0; k < n; ++k) {
    EXPECT_NEAR(norm(n, v.view().column(k)), 1, 1e-12);
    for (int64_t r = 0; r < n; ++r) {
      C sum = 0;
      for (int64_t c = 0; c < n; ++c) sum += C(a.view()(r, c)) * v.view()(c, k);
      EXPECT_LT(std::abs(sum - values[static_cast<size_t>(k)] * v.view()(r, k)), 1e-11) << n;
    }
  }
}
using GeneralTest = LinalgTest<double>;
TEST_F(GeneralTest, EigenvectorsAreOnlyStretched) {
  for (const int64_t n : kSizes) expect_eigenvectors(*this, any(n, n));
  // A turn has no real directions, a triangle nothing to do, a defective matrix one direction.
  ScratchMatrix<double> turn(2, 2), defective(3, 3);
  turn.view()(0, 1) = -1;
  turn.view()(1, 0) = 1;
  expect_eigenvectors<double>(*this, turn);
  for (int64_t i = 0; i < 2; ++i) defective.view()(i, i + 1) = 1;
  expect_eigenvectors<double>(*this, defective);
}
using ComplexGeneralTest = LinalgTest<std::complex<double>>;
TEST_F(ComplexGeneralTest, EigenvectorsAreOnlyStretched) {
  for (const int64_t n : kSizes) expect_eigenvectors(*this, any(n, n));
}

TEST_F(GeneralTest, ExponentialsOfTurnsAndOfNothing) {
  ScratchMatrix<double> a(2, 2), infinite(2, 2);
  a.view()(0, 1) = -30;
  a.view()(1, 0) = 30;
  exponential<double>(pool, a);
  EXPECT_NEAR(a.view()(0, 0), std::cos(30.0), 1e-13);
  EXPECT_NEAR(a.view()(1, 0), std::sin(30.0), 1e-13);
  infinite.view()(0, 0) = std::numeric_limits<double>::infinity();
  exponential<double>(pool, infinite);
  EXPECT_TRUE(std::isnan(infinite.view()(0, 0)));
}

TYPED_TEST(LinalgTest, NoNumbersEnd) {
  using T = TypeParam;
  ScratchMatrix<T> a(20, 20);
  for (int64_t i = 0; i < 400; ++i) a.view().data[i] = T(std::numeric_limits<Real<T>>::quiet_NaN());
  std::vector<Real<T>> values(20);
  eigen_hermitian<T>(this->pool, a, values.data(), true);
  std::vector<int32_t> pivots(20);
  factor_lu<T>(this->pool, a, pivots.data());
  for (const int32_t pivot : pivots) EXPECT_TRUE(pivot >= 1 && pivot <= 20);
}

TYPED_TEST(LinalgTest, StopsWhenAsked) {
  using T = TypeParam;
  const std::atomic<bool> cancel = true;
  WorkScope scope(WorkLimits{.cancel = &cancel});
  ScratchMatrix<T> a = this->any(64, 64);
  std::vector<Real<T>> values(64);
  std::vector<int32_t> pivots(64);
  EXPECT_THROW(eigen_hermitian<T>(this->pool, a, values.data(), true), Error);
  EXPECT_THROW(singular_values<T>(this->pool, a, {}, values.data(), {}), Error);
  EXPECT_THROW(factor_lu<T>(this->pool, a, pivots.data()), Error);
}

}  // namespace
}  // namespace flambeau::kernels::linalg
