// Triangular systems, and the factorizations that lead to them: LU with exchanged rows, Cholesky, and the one
// of symmetric matrices that are not definite. Divided in halves, so that nearly all work is matrix products.
// Pivots and failures are numbered from 1, as LAPACK has it; 0 is no failure.
#pragma once

#include "flambeau/kernels/linalg/matrix.h"

namespace flambeau::kernels::linalg {

// b becomes the solution x of a * x = b, for a triangle `a`, the other half of which is not looked at. With
// `is_unit` neither is the diagonal, which is taken for ones.
template <typename T>
void solve_triangle(ThreadPool& pool, Matrix<T> a, bool is_upper, bool is_unit, Matrix<T> b);

// a becomes L (below the diagonal, which is 1) and U; row i was exchanged with pivots[i]. The first column
// without a pivot is the failure; all is done nevertheless. Columns lie packed.
template <typename T>
int64_t factor_lu(ThreadPool& pool, Matrix<T> a, int32_t* pivots);
// Exchanges rows as factor_lu did, or takes that back.
template <typename T>
void exchange_rows(Matrix<T> a, const int32_t* pivots, int64_t count, bool is_back = false);

// The lower triangle of a becomes L with L * L^H = a. The first leading part that is not positive definite is
// the failure, and ends it.
template <typename T>
int64_t factor_cholesky(ThreadPool& pool, Matrix<T> a);

// The lower triangle becomes L and D with L * D * L^T = a (or L^H), by the method of Bunch and Kaufman. Two
// negative pivots are a block of two rows of D. Columns lie packed.
template <typename T>
int64_t factor_ldl(Matrix<T> a, int32_t* pivots, bool is_hermitian);
template <typename T>
void solve_ldl(Matrix<T> factors, const int32_t* pivots, bool is_hermitian, Matrix<T> b);

}  // namespace flambeau::kernels::linalg
