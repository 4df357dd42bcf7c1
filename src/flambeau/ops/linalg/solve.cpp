// Systems of equations: by triangles, and by the factors that others have found.
#include "flambeau/ops/linalg/solve.h"

#include <fmt/format.h>

#include "flambeau/kernels/linalg/factor.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/linalg/batch.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using kernels::linalg::conjugate_all;
using kernels::linalg::Matrix;

double solve_cost(const Tensor& factors, const Tensor& out) {
  return static_cast<double>(factors.sizes().back()) *
         static_cast<double>(out.sizes()[out.dim() - 2] * out.sizes().back());
}

// A square matrix against one with as many rows, or columns where the unknown is on the left; batches
// broadcast.
template <typename N>
Info<N> solution_info(std::string_view name, const Info<N>& a, const Info<N>& b, bool is_left = true) {
  require_square(name, a);
  require_matrices(name, b, "B");
  require_alike(name, a.dtype, b.dtype);
  if (!(rows_of(a) == (is_left ? rows_of(b) : columns_of(b)))) {
    fail_argument(fmt::format("{}: Incompatible shapes of A and B for the equation {} ({}x{} and {}x{})",
                              name, is_left ? "AX = B" : "XA = B", number_text(rows_of(a)),
                              number_text(columns_of(a)), number_text(rows_of(b)),
                              number_text(columns_of(b))));
  }
  return column_major(
      a.dtype, with_sizes(broadcast(batch_sizes(a), batch_sizes(b)), rows_of(b), columns_of(b)), a.device);
}
Dims batch_of(const Tensor& tensor) { return Dims(tensor.sizes().span().first(tensor.dim() - 2)); }

// ---- triangles

template <typename N>
Info<N> triangular_shape(const Info<N>& a, const Info<N>& b, bool, bool left, bool) {
  require_linalg_type("linalg.solve_triangular", a.dtype);
  return solution_info("linalg.solve_triangular", a, b, left);
}
void run_triangular(Context& context, const Tensor& a, const Tensor& b, bool upper, bool left, bool unit,
                    const Tensor& out) {
  copy_into(context, b, out);
  const Tensor triangles = column_copy(context, a, batch_of(out));
  for_linalg_type(out.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(out), solve_cost(triangles, out), [&](int64_t i) {
      const Matrix<T> triangle = matrix_at<T>(triangles, i), x = matrix_at<T>(out, i);
      kernels::linalg::solve_triangle(context.pool(), left ? triangle : triangle.transposed(), upper == left,
                                      unit, left ? x : x.transposed());
    });
  });
}
void triangular_kernel(Context& context, const Tensor& a, const Tensor& b, bool upper, bool left, bool unit,
                       Tensor& out) {
  run_triangular(context, a, b, upper, left, unit, out);
}

template <typename N>
std::tuple<Info<N>, Info<N>> old_triangular_shape(const Info<N>& self, const Info<N>& a, bool, bool, bool) {
  require(self.dim() >= 2 && a.dim() >= 2,
          "torch.triangular_solve: Expected b and A to have at least 2 dimensions");
  require_linalg_type("triangular_solve", a.dtype);
  const Info<N> out = solution_info("triangular_solve", a, self);
  return {out, column_major(a.dtype, with_sizes(batch_sizes(out), rows_of(a), columns_of(a)), a.device)};
}
// Transposed, it is not conjugated.
void old_triangular_kernel(Context& context, const Tensor& self, const Tensor& a, bool upper, bool transpose,
                           bool unit, Tensor& out, Tensor& coefficient) {
  copy_into(context, a, coefficient);
  run_triangular(context, transpose ? transposed(a) : a, self, upper != transpose, true, unit, out);
}

// ---- L and U

template <typename N>
Info<N> lu_solve_shape(const Info<N>& factors, const Info<N>& pivots, const Info<N>& b, bool left, bool) {
  require_linalg_type("torch.linalg.lu_solve", factors.dtype);
  require(pivots.dtype == DType::kInt32,
          "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  const Info<N> out = solution_info("torch.linalg.lu_solve", factors, b, left);
  require(batch_sizes(factors, 1) == pivots.sizes,
          "linalg.lu_solve: the pivots must have the batch of LU, and one pivot for each of its rows");
  return left ? out : contiguous(out.dtype, out.sizes, out.device);
}
void lu_solve_kernel(Context& context, const Tensor& factors, const Tensor& pivots, const Tensor& b,
                     bool left, bool adjoint, Tensor& out) {
  require_pivots(pivots, factors.sizes().back(), false);
  copy_into(context, b, out);
  Dims wide = batch_of(out);
  wide.push_back(factors.sizes().back());
  const Tensor rows = context.allocate(DType::kInt32, wide);
  copy_into(context, pivots, rows);
  run_lu_solve(context, column_copy(context, factors, batch_of(out)), rows, left, adjoint, out);
}
Tensor old_lu_solve(Context& c, const Tensor& self, const Tensor& data, const Tensor& pivots) {
  return call(c, "aten::linalg_lu_solve", data, pivots, self);
}

// ---- Cholesky's factor

template <typename N>
Info<N> cholesky_solve_shape(const Info<N>& self, const Info<N>& factor, bool) {
  require(self.dim() >= 2 && factor.dim() >= 2, "cholesky_solve: b and u should have at least 2 dimensions");
  require_linalg_type("cholesky_solve", self.dtype);
  return solution_info("cholesky_solve", factor, self);
}
// x becomes the solution for a = l * l^H.
template <typename T>
void solve_by_cholesky(ThreadPool& pool, Matrix<T> factor, bool is_upper, Matrix<T> x) {
  // The upper factor, turned round, is the conjugated lower one.
  const Matrix<T> lower = is_upper ? factor.transposed() : factor;
  if (is_upper) conjugate_all(x);
  kernels::linalg::solve_triangle(pool, lower, false, false, x);
  conjugate_all(x);
  kernels::linalg::solve_triangle(pool, lower.transposed(), true, false, x);
  if (!is_upper) conjugate_all(x);
}
void cholesky_solve_kernel(Context& context, const Tensor& self, const Tensor& factor, bool upper,
                           Tensor& out) {
  copy_into(context, self, out);
  const Tensor factors = column_copy(context, factor, batch_of(out));
  for_linalg_type(out.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(out), 2 * solve_cost(factors, out), [&](int64_t i) {
      solve_by_cholesky(context.pool(), matrix_at<T>(factors, i), upper, matrix_at<T>(out, i));
    });
  });
}
template <typename N>
Info<N> cholesky_inverse_shape(const Info<N>& self, bool) {
  require_square_input("cholesky_inverse", self);
  return column_major(self.dtype, self.sizes, self.device);
}
void cholesky_inverse_kernel(Context& context, const Tensor& self, bool upper, Tensor& out) {
  const Tensor factors = column_copy(context, self);
  for_linalg_type(out.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(out), 2 * solve_cost(factors, out), [&](int64_t i) {
      set_identity(matrix_at<T>(out, i));
      solve_by_cholesky(context.pool(), matrix_at<T>(factors, i), upper, matrix_at<T>(out, i));
    });
  });
}

// ---- L and D

template <typename N>
Info<N> ldl_solve_shape(const Info<N>& factors, const Info<N>& pivots, const Info<N>& b, bool) {
  require_linalg_type("torch.linalg.ldl_solve", factors.dtype);
  const Info<N> out = solution_info("torch.linalg.ldl_solve", factors, b);
  require(pivots.dtype == DType::kInt32, "torch.linalg.ldl_solve: Expected pivots to be integers (int32)");
  require(batch_sizes(factors, 1) == pivots.sizes,
          "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same");
  return out;
}
void ldl_solve_kernel(Context& context, const Tensor& factors, const Tensor& pivots, const Tensor& b,
                      bool hermitian, Tensor& out) {
  require_pivots(pivots, factors.sizes().back(), true);
  copy_into(context, b, out);
  const Tensor all = column_copy(context, factors, batch_of(out));
  Dims wide = batch_of(out);
  wide.push_back(factors.sizes().back());
  const Tensor rows = context.allocate(DType::kInt32, wide);
  copy_into(context, pivots, rows);
  for_linalg_type(out.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(out), 2 * solve_cost(all, out), [&](int64_t i) {
      if (out.element_count() == 0) return;
      kernels::linalg::solve_ldl(matrix_at<T>(all, i), row_at<int32_t>(rows, i),
                                 kernels::linalg::kIsComplex<T> && hermitian, matrix_at<T>(out, i));
    });
  });
}

}  // namespace

void run_lu_solve(Context& context, const Tensor& factors, const Tensor& pivots, bool left, bool adjoint,
                  const Tensor& out) {
  for_linalg_type(out.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(out), 2 * solve_cost(factors, out), [&](int64_t i) {
      if (out.element_count() == 0) return;
      const Matrix<T> a = matrix_at<T>(factors, i), x = matrix_at<T>(out, i);
      const int32_t* const rows = row_at<int32_t>(pivots, i);
      const Matrix<T> b = left ? x : x.transposed();
      // A^H * X = B is A^T * conj(X) = conj(B); X * A = B is A^T * X^T = B^T.
      if (adjoint) conjugate_all(b);
      if (left != adjoint) {
        kernels::linalg::exchange_rows(b, rows, a.rows);
        kernels::linalg::solve_triangle(context.pool(), a, false, true, b);
        kernels::linalg::solve_triangle(context.pool(), a, true, false, b);
      } else {
        kernels::linalg::solve_triangle(context.pool(), a.transposed(), false, false, b);
        kernels::linalg::solve_triangle(context.pool(), a.transposed(), true, true, b);
        kernels::linalg::exchange_rows(b, rows, a.rows, true);
      }
      if (adjoint) conjugate_all(b);
    });
  });
}

void define_solve(Library& library) {
  library
      .define(
          "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
          "unitriangular=False) -> Tensor")
      .shape<triangular_shape<Size>, triangular_shape<SymInt>>()
      .kernel<triangular_kernel>();
  library
      .define(
          "aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
          "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)")
      .shape<old_triangular_shape<Size>, old_triangular_shape<SymInt>>()
      .kernel<old_triangular_kernel>();
  library
      .define(
          "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) "
          "-> Tensor")
      .shape<lu_solve_shape<Size>, lu_solve_shape<SymInt>>()
      .kernel<lu_solve_kernel>();
  library.define("aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor")
      .composite<old_lu_solve>();
  library.define("aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor")
      .shape<cholesky_solve_shape<Size>, cholesky_solve_shape<SymInt>>()
      .kernel<cholesky_solve_kernel>();
  library.define("aten::_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor")
      .shape<cholesky_solve_shape<Size>, cholesky_solve_shape<SymInt>>()
      .kernel<cholesky_solve_kernel>();
  library.define("aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor")
      .shape<cholesky_inverse_shape<Size>, cholesky_inverse_shape<SymInt>>()
      .kernel<cholesky_inverse_kernel>();
  library
      .define("aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor")
      .shape<ldl_solve_shape<Size>, ldl_solve_shape<SymInt>>()
      .kernel<ldl_solve_kernel>();
}

}  // namespace flambeau::ops
