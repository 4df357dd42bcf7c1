// The x that comes nearest to a * x = b: by Q and R where the rank is full, by exchanged columns or singular
// values where it may not be.
#include <fmt/format.h>

#include "flambeau/kernels/linalg/factor.h"
#include "flambeau/kernels/linalg/reflect.h"
#include "flambeau/kernels/linalg/spectrum.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/linalg/batch.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {
namespace {

using kernels::linalg::conjugate_all;
using kernels::linalg::Matrix;
using kernels::linalg::Real;
using kernels::linalg::ScratchMatrix;

// The shortest x of a * x = b for an `a` of full rank with more columns than rows; b is the top of x.
template <typename T>
void solve_wide(ThreadPool& pool, Matrix<T> a, Matrix<T> x) {
  const int64_t rows = a.rows, columns = a.columns;
  ScratchMatrix<T> adjoint(columns, rows), tau(rows, 1);
  copy(a.transposed(), adjoint.view());
  conjugate_all(adjoint.view());
  factor_qr(pool, adjoint.view(), tau.view().data);
  // R^H * y = b is R^T * conj(y) = conj(b).
  const Matrix<T> top = x.block(0, 0, rows, x.columns);
  conjugate_all(top);
  solve_triangle(pool, adjoint.view().block(0, 0, rows, rows).transposed(), false, false, top);
  conjugate_all(top);
  for (int64_t c = 0; c < x.columns; ++c) {
    for (int64_t r = rows; r < columns; ++r) x(r, c) = T(0);
  }
  apply_q(pool, adjoint.view(), tau.view().data, rows, x.block(0, 0, columns, x.columns));
}

// x has as many rows as the longer side of a, and b on top.
template <typename T>
void solve_full_rank(ThreadPool& pool, Matrix<T> a, Matrix<T> x) {
  if (a.rows < a.columns) return solve_wide(pool, a, x);
  ScratchMatrix<T> tau(a.columns, 1);
  factor_qr(pool, a, tau.view().data);
  apply_q(pool, a, tau.view().data, a.columns, x, {.is_adjoint = true});
  solve_triangle(pool, a.block(0, 0, a.columns, a.columns), true, false, x.block(0, 0, a.columns, x.columns));
}

template <typename T>
int64_t solve_ordered(ThreadPool& pool, Matrix<T> a, Matrix<T> x, double rcond) {
  const int64_t side = a.shorter_side();
  ScratchMatrix<T> tau(side, 1);
  ScratchMatrix<int32_t> order(a.columns, 1);
  factor_qr_ordered(a, tau.view().data, order.view().data);
  int64_t rank = 0;
  while (rank < side && std::abs(a(rank, rank)) > 0 &&
         static_cast<double>(std::abs(a(rank, rank))) > rcond * static_cast<double>(std::abs(a(0, 0)))) {
    ++rank;
  }
  apply_q(pool, a, tau.view().data, side, x.block(0, 0, a.rows, x.columns), {.is_adjoint = true});
  ScratchMatrix<T> solution(a.columns, x.columns);
  const Matrix<T> y = solution;
  copy(x.block(0, 0, rank, x.columns), y.block(0, 0, rank, x.columns));
  for (int64_t c = 0; c < a.columns; ++c) {
    for (int64_t r = c + 1; r < a.rows; ++r) a(r, c) = T(0);
  }
  if (rank == a.columns) {
    solve_triangle(pool, a.block(0, 0, rank, rank), true, false, y);
  } else if (rank > 0) {
    solve_wide(pool, a.block(0, 0, rank, a.columns), y);
  }
  for (int64_t r = 0; r < a.columns; ++r) {
    for (int64_t c = 0; c < x.columns; ++c) x(order.view()(r, 0), c) = rank == 0 ? T(0) : y(r, c);
  }
  return rank;
}

template <typename T>
int64_t solve_by_values(ThreadPool& pool, Matrix<T> a, Matrix<T> x, double rcond, Real<T>* values,
                        bool& converged) {
  const int64_t side = a.shorter_side(), rows = a.rows, columns = a.columns;
  ScratchMatrix<T> u(rows, side), vh(side, columns), y(side, x.columns), residue(rows, x.columns);
  const Matrix<T> b = x.block(0, 0, rows, x.columns);
  copy(b, residue.view());
  converged = singular_values(pool, a, u.view(), values, vh.view());
  int64_t rank = 0;
  while (rank<side&& static_cast<double>(values[rank])> rcond * static_cast<double>(values[0])) ++rank;
  const Matrix<T> parts = y;
  conjugate_all(u.view());
  product<T>(pool, u.view().transposed(), residue, parts);
  conjugate_all(u.view());
  // What no solution reaches, below the solution as Q leaves it: its length is all that counts.
  if (rows > columns) {
    product<T>(pool, u, parts, residue, T(-1), T(1));
    for (int64_t c = 0; c < x.columns; ++c) {
      x(columns, c) = T(kernels::linalg::norm(rows, residue.view().column(c)));
      for (int64_t r = columns + 1; r < rows; ++r) x(r, c) = T(0);
    }
  }
  for (int64_t c = 0; c < x.columns; ++c) {
    for (int64_t r = 0; r < side; ++r) parts(r, c) = r < rank ? parts(r, c) / values[r] : T(0);
  }
  conjugate_all(vh.view());
  product<T>(pool, vh.view().transposed(), parts, x.block(0, 0, columns, x.columns));
  return rank;
}

Tensor narrowed_rows(const Tensor& tensor, int64_t rows) {
  Geometry geometry = tensor.geometry();
  geometry.sizes[geometry.sizes.size() - 2] = rows;
  return tensor.with_geometry(std::move(geometry));
}

enum class LstsqDriver : uint8_t { kGels, kGelsy, kGelsd, kGelss };
LstsqDriver lstsq_driver(std::optional<std::string_view> driver) {
  if (!driver || *driver == "gelsy") return LstsqDriver::kGelsy;
  if (*driver == "gels") return LstsqDriver::kGels;
  if (*driver == "gelsd") return LstsqDriver::kGelsd;
  if (*driver == "gelss") return LstsqDriver::kGelss;
  fail_argument(fmt::format(
      "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got '{}'",
      *driver));
}

void require_systems(const Tensor& self, const Tensor& b, bool is_vector) {
  require(self.dim() >= 2, "torch.linalg.lstsq: input must have at least 2 dimensions.");
  require(b.dim() >= 1, "torch.linalg.lstsq: other must have at least 1 dimension.");
  require_linalg_type("torch.linalg.lstsq", self.dtype());
  require_alike("torch.linalg.lstsq", self.dtype(), b.dtype());
  const size_t batch = self.dim() - 2;
  require(b.dim() == batch + (is_vector ? 1 : 2),
          "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - "
          "other.dim()) <= 1");
  for (size_t d = 0; d <= batch; ++d) {
    require(self.sizes()[d] == b.sizes()[d],
            "torch.linalg.lstsq: the batch and the rows of input and other must be the same");
  }
}

std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(Context& context, const Tensor& self, const Tensor& b,
                                                 std::optional<double> rcond,
                                                 std::optional<std::string_view> driver_name) {
  const bool is_vector = b.dim() + 1 == self.dim();
  require_systems(self, b, is_vector);
  const LstsqDriver driver = lstsq_driver(driver_name);
  const bool by_values = driver == LstsqDriver::kGelsd || driver == LstsqDriver::kGelss;
  const size_t rank = self.dim();
  const int64_t rows = self.sizes()[rank - 2], columns = self.sizes()[rank - 1];
  const int64_t sides = is_vector ? 1 : b.sizes().back(), longer = std::max(rows, columns);
  const DType dtype = self.dtype();
  const DType real = is_complex(dtype) ? to_real(dtype) : dtype;
  const double epsilon =
      real == DType::kFloat32 ? kernels::linalg::kEpsilon<float> : kernels::linalg::kEpsilon<double>;
  const double limit = rcond.value_or(epsilon * static_cast<double>(longer));

  const Dims batch(self.sizes().span().first(rank - 2));
  const auto sized = [&](std::initializer_list<int64_t> more) {
    Dims sizes = batch;
    for (const int64_t size : more) sizes.push_back(size);
    return sizes;
  };
  const Tensor work = column_copy(context, self);
  const Tensor x = context.allocate(column_major<Size>(dtype, ShortList<Size>(sized({longer, sides})), {}));
  fill(context, x, 0);
  const Tensor given = b.with_geometry([&] {
    Geometry geometry = b.geometry();
    if (is_vector) {
      geometry.sizes.push_back(1);
      geometry.strides.push_back(1);
    }
    return geometry;
  }());
  copy_into(context, given, narrowed_rows(x, rows));

  Tensor ranks = driver == LstsqDriver::kGels ? Tensor::zeros(DType::kInt64, Dims{0})
                                              : Tensor::zeros(DType::kInt64, batch);
  const Tensor values =
      by_values ? Tensor::zeros(real, sized({std::min(rows, columns)})) : Tensor::zeros(real, Dims{0});
  const Tensor infos = Tensor::zeros(DType::kInt32, Dims{matrix_count(self)});
  if (self.element_count() > 0 && x.element_count() > 0) {
    if (driver != LstsqDriver::kGels) require_finite("torch.linalg.lstsq", self);
    for_linalg_type(dtype, [&]<typename T>() {
      each_matrix(context, matrix_count(self), (by_values ? 20 : 3) * cubic_cost(self), [&](int64_t i) {
        const Matrix<T> a = matrix_at<T>(work, i), solution = matrix_at<T>(x, i);
        if (driver == LstsqDriver::kGels) return solve_full_rank(context.pool(), a, solution);
        bool converged = true;
        const int64_t found = by_values ? solve_by_values(context.pool(), a, solution, limit,
                                                          row_at<Real<T>>(values, i), converged)
                                        : solve_ordered(context.pool(), a, solution, limit);
        ranks.mutable_data<int64_t>()[i] = found;
        infos.mutable_data<int32_t>()[i] = converged ? 0 : 1;
      });
    });
    check_infos(infos, "torch.linalg.lstsq (svd)", rank == 2);
  } else if (self.element_count() == 0) {
    fill(context, x, 0);
  }

  Tensor residuals = Tensor::zeros(real, Dims{0});
  bool is_full = driver != LstsqDriver::kGelsy && rows > columns;
  for (int64_t i = 0; by_values && i < ranks.element_count(); ++i)
    is_full = is_full && ranks.data<int64_t>()[i] == columns;
  if (is_full) {
    residuals = Tensor::zeros(real, sized({sides}));
    for_linalg_type(dtype, [&]<typename T>() {
      for (int64_t i = 0; i < matrix_count(x) && residuals.element_count() > 0; ++i) {
        const Matrix<T> below = matrix_at<T>(x, i);
        for (int64_t c = 0; c < sides; ++c) {
          const Real<T> length = kernels::linalg::norm(rows - columns, &below(columns, c));
          row_at<Real<T>>(residuals, i)[c] = length * length;
        }
      }
    });
  }
  Tensor solution = narrowed_rows(x, columns);
  if (is_vector) {
    Geometry geometry = solution.geometry();
    geometry.sizes.erase(geometry.sizes.size() - 1);
    geometry.strides.erase(geometry.strides.size() - 1);
    solution = solution.with_geometry(std::move(geometry));
  }
  return {solution, residuals, ranks, values};
}

}  // namespace

void define_least_squares(Library& library) {
  library
      .define(
          "aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor "
          "solution, Tensor residuals, Tensor rank, Tensor singular_values)")
      .function<lstsq>();
}

}  // namespace flambeau::ops
