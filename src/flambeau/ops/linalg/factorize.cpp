// Factors of matrices: Cholesky's, L and U, L and D; and what their errors say.
#include "flambeau/kernels/linalg/factor.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/linalg/batch.h"
#include "flambeau/ops/linalg/solve.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using kernels::linalg::Matrix;

// ---- Cholesky

template <typename N>
Info<N> cholesky_info(std::string_view name, const Info<N>& self) {
  require_square_input(name, self);
  return column_major(self.dtype, self.sizes, self.device);
}
template <typename N>
std::tuple<Info<N>, Info<N>> cholesky_ex_shape(const Info<N>& self, bool, bool) {
  return {cholesky_info("linalg.cholesky", self),
          contiguous<N>(DType::kInt32, batch_sizes(self), self.device)};
}

// The triangle of a Hermitian matrix that is read becomes the factor, the other one zero.
void run_cholesky(Context& context, const Tensor& self, bool is_upper, const Tensor& out, int32_t* infos) {
  copy_into(context, self, out);
  for_linalg_type(out.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(out), cubic_cost(out) / 3, [&](int64_t i) {
      const Matrix<T> whole = matrix_at<T>(out, i);
      // Turned round, the upper triangle is a lower one, of the conjugated matrix.
      const Matrix<T> a = is_upper ? whole.transposed() : whole;
      infos[i] = static_cast<int32_t>(kernels::linalg::factor_cholesky(context.pool(), a));
      for (int64_t c = 1; c < a.columns; ++c) {
        for (int64_t r = 0; r < c; ++r) a(r, c) = T(0);
      }
    });
  });
}
void cholesky_ex_kernel(Context& context, const Tensor& self, bool upper, bool check_errors, Tensor& out,
                        Tensor& info) {
  run_cholesky(context, self, upper, out, info.mutable_data<int32_t>());
  if (check_errors) check_infos(info, "linalg.cholesky_ex", self.dim() == 2);
}

template <typename N>
Info<N> cholesky_shape(const Info<N>& self, bool) {
  Info<N> info = cholesky_info("cholesky", self);
  if (self.element_count() == N(0)) return contiguous(self.dtype, self.sizes, self.device);
  return info;
}
void cholesky_kernel(Context& context, const Tensor& self, bool upper, Tensor& out) {
  const Tensor infos = Tensor::zeros(DType::kInt32, Dims{matrix_count(self)});
  run_cholesky(context, self, upper, out, infos.mutable_data<int32_t>());
  check_infos(infos, "cholesky", self.dim() == 2);
}
Tensor linalg_cholesky(Context& c, const Tensor& self, bool upper) {
  const auto results =
      call_with<std::vector<Value>>(c, "aten::linalg_cholesky_ex", {self}, {{"upper", upper}});
  call_with<std::vector<Value>>(c, "aten::_linalg_check_errors", {results[1], "linalg.cholesky"},
                                {{"is_matrix", rank_of(self) == 2}});
  return results[0].tensor();
}

void check_errors_function(const Tensor& info, std::string_view name, bool is_matrix) {
  check_infos(info, name, is_matrix);
}

// ---- L and U

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> lu_factor_shape(const Info<N>& self, bool, bool) {
  require_matrices("torch.lu_factor", self);
  require_linalg_type("torch.lu_factor", self.dtype);
  return {column_major(self.dtype, self.sizes, self.device),
          contiguous<N>(DType::kInt32, with_sizes(batch_sizes(self), min(rows_of(self), columns_of(self))),
                        self.device),
          contiguous<N>(DType::kInt32, batch_sizes(self), self.device)};
}
void require_pivoting(bool pivot, const Tensor& self) {
  require(pivot || self.element_count() == 0,
          "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
}
void lu_factor_kernel(Context& context, const Tensor& self, bool pivot, bool check_errors, Tensor& factors,
                      Tensor& pivots, Tensor& info) {
  require_pivoting(pivot, self);
  copy_into(context, self, factors);
  run_lu_factor(context, factors, pivots, info.mutable_data<int32_t>());
  if (check_errors) check_infos(info, "torch.linalg.lu_factor_ex", self.dim() == 2);
}
std::tuple<Tensor, Tensor> lu_factor(Context& c, const Tensor& self, bool pivot) {
  const auto results =
      call_with<std::vector<Value>>(c, "aten::linalg_lu_factor_ex", {self}, {{"pivot", pivot}});
  call_with<std::vector<Value>>(c, "aten::_linalg_check_errors", {results[2], "torch.linalg.lu_factor"},
                                {{"is_matrix", rank_of(self) == 2}});
  return {results[0].tensor(), results[1].tensor()};
}
std::vector<Value> lu_with_info(Context& c, const Tensor& self, bool pivot, bool) {
  return call_with<std::vector<Value>>(c, "aten::linalg_lu_factor_ex", {self}, {{"pivot", pivot}});
}

// P, L and U, row after row.
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> parts_of_lu(const Info<N>& self, bool with_data, bool with_pivots) {
  const N side = min(rows_of(self), columns_of(self));
  const ShortList<N> batch = batch_sizes(self);
  const auto make = [&](bool wanted, const N& rows, const N& columns) {
    return wanted ? contiguous(self.dtype, with_sizes(batch, rows, columns), self.device)
                  : no_result<N>(self.dtype, self.device);
  };
  return {make(with_pivots, rows_of(self), rows_of(self)), make(with_data, rows_of(self), side),
          make(with_data, side, columns_of(self))};
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> lu_shape(const Info<N>& self, bool pivot) {
  require_matrix_input("linalg.lu", self);
  return parts_of_lu(self, true, pivot);
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> lu_unpack_shape(const Info<N>& data, const Info<N>& pivots,
                                                      bool with_data, bool with_pivots) {
  require(!with_pivots || pivots.dtype == DType::kInt32,
          "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, as "
          "torch.linalg.lu_factor gives it");
  require_matrices("torch.lu_unpack", data, "LU_data");
  require_linalg_type("torch.lu_unpack", data.dtype);
  if (with_pivots) {
    require(pivots.dim() + 1 == data.dim() && batch_sizes(pivots, 1) == batch_sizes(data) &&
                pivots.sizes.back() == min(rows_of(data), columns_of(data)),
            "torch.lu_unpack: LU_pivots must have the batch of LU_data, and a pivot for each row and column");
  }
  return parts_of_lu(data, with_data, with_pivots);
}

void unpack_lu(Context& context, const Tensor& factors, const Tensor& pivots, bool with_data,
               bool with_pivots, const Tensor& p, const Tensor& l, const Tensor& u) {
  const size_t rank = factors.dim();
  const int64_t rows = factors.sizes()[rank - 2];
  const double cost = static_cast<double>(rows * (rows + factors.sizes()[rank - 1]));
  for_linalg_type(factors.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(factors), cost, [&](int64_t i) {
      if (with_data && factors.element_count() > 0) {
        const Matrix<T> from = matrix_at<T>(factors, i), lower = matrix_at<T>(l, i),
                        upper = matrix_at<T>(u, i);
        for (int64_t r = 0; r < lower.rows; ++r) {
          for (int64_t c = 0; c < lower.columns; ++c) lower(r, c) = r > c ? from(r, c) : r == c ? T(1) : T(0);
        }
        for (int64_t r = 0; r < upper.rows; ++r) {
          for (int64_t c = 0; c < upper.columns; ++c) upper(r, c) = r <= c ? from(r, c) : T(0);
        }
      }
      if (!with_pivots || p.element_count() == 0) return;
      // Row r of the product of L and U is row order[r] of the matrix.
      const Matrix<T> to = matrix_at<T>(p, i);
      kernels::linalg::ScratchMatrix<int32_t> order(rows, 1);
      for (int64_t r = 0; r < rows; ++r) order.view()(r, 0) = static_cast<int32_t>(r);
      if (pivots.element_count() > 0) {
        const int32_t* const row = row_at<int32_t>(pivots, i);
        for (int64_t r = 0; r < pivots.sizes().back(); ++r)
          std::swap(order.view()(r, 0), order.view()(row[r] - 1, 0));
      }
      for (int64_t c = 0; c < rows; ++c) {
        for (int64_t r = 0; r < rows; ++r) to(r, c) = T(0);
      }
      for (int64_t c = 0; c < rows; ++c) to(order.view()(c, 0), c) = T(1);
    });
  });
}
void lu_unpack_kernel(Context& context, const Tensor& data, const Tensor& pivots, bool with_data,
                      bool with_pivots, Tensor& p, Tensor& l, Tensor& u) {
  const Tensor rows = with_pivots ? pivots.to_contiguous() : pivots;
  if (with_pivots) require_pivots(rows, data.sizes()[data.dim() - 2], false);
  unpack_lu(context, with_data ? column_copy(context, data) : data, rows, with_data, with_pivots, p, l, u);
}
void lu_kernel(Context& context, const Tensor& self, bool pivot, Tensor& p, Tensor& l, Tensor& u) {
  require_pivoting(pivot, self);
  const Tensor factors = column_copy(context, self);
  Dims sizes(self.sizes().span().first(self.dim() - 1));
  sizes.back() = std::min(sizes.back(), self.sizes().back());
  const Tensor pivots = context.allocate(DType::kInt32, sizes);
  kernels::linalg::ScratchMatrix<int32_t> infos(matrix_count(self), 1);
  run_lu_factor(context, factors, pivots, infos.view().data);
  unpack_lu(context, factors, pivots, true, pivot, p, l, u);
}

// ---- L and D

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> ldl_factor_shape(const Info<N>& self, bool, bool) {
  require_square_input("torch.linalg.ldl_factor_ex", self);
  return {column_major(self.dtype, self.sizes, self.device),
          contiguous<N>(DType::kInt32, batch_sizes(self, 1), self.device),
          contiguous<N>(DType::kInt32, batch_sizes(self), self.device)};
}
void ldl_factor_kernel(Context& context, const Tensor& self, bool hermitian, bool check_errors,
                       Tensor& factors, Tensor& pivots, Tensor& info) {
  copy_into(context, self, factors);
  for_linalg_type(self.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(self), cubic_cost(self) / 3, [&](int64_t i) {
      const Matrix<T> a = matrix_at<T>(factors, i);
      info.mutable_data<int32_t>()[i] =
          static_cast<int32_t>(kernels::linalg::factor_ldl(a, row_at<int32_t>(pivots, i), hermitian));
      for (int64_t c = 1; c < a.columns; ++c) {
        for (int64_t r = 0; r < c; ++r) a(r, c) = T(0);
      }
    });
  });
  if (check_errors) check_infos(info, "torch.linalg.ldl_factor_ex", self.dim() == 2);
}
std::tuple<Tensor, Tensor> ldl_factor(Context& c, const Tensor& self, bool hermitian) {
  const auto results =
      call_with<std::vector<Value>>(c, "aten::linalg_ldl_factor_ex", {self}, {{"hermitian", hermitian}});
  call_with<std::vector<Value>>(c, "aten::_linalg_check_errors", {results[2], "torch.linalg.ldl_factor"},
                                {{"is_matrix", rank_of(self) == 2}});
  return {results[0].tensor(), results[1].tensor()};
}

}  // namespace

void run_lu_factor(Context& context, const Tensor& factors, const Tensor& pivots, int32_t* infos) {
  for_linalg_type(factors.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(factors), cubic_cost(factors) * 2 / 3, [&](int64_t i) {
      infos[i] = static_cast<int32_t>(
          kernels::linalg::factor_lu(context.pool(), matrix_at<T>(factors, i), row_at<int32_t>(pivots, i)));
    });
  });
}
void define_factorize(Library& library) {
  library
      .define(
          "aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, "
          "Tensor info)")
      .shape<cholesky_ex_shape<Size>, cholesky_ex_shape<SymInt>>()
      .kernel<cholesky_ex_kernel>();
  library.define("aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor")
      .composite<linalg_cholesky>();
  library.define("aten::cholesky(Tensor self, bool upper=False) -> Tensor")
      .shape<cholesky_shape<Size>, cholesky_shape<SymInt>>()
      .kernel<cholesky_kernel>();
  library.define("aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()")
      .function<check_errors_function>();
  library
      .define(
          "aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, "
          "Tensor pivots, Tensor info)")
      .shape<lu_factor_shape<Size>, lu_factor_shape<SymInt>>()
      .kernel<lu_factor_kernel>();
  library.define("aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)")
      .composite<lu_factor>();
  library
      .define(
          "aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor "
          "pivots, Tensor info)")
      .composite<lu_with_info>();
  library.define("aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)")
      .shape<lu_shape<Size>, lu_shape<SymInt>>()
      .kernel<lu_kernel>();
  library
      .define(
          "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) "
          "-> (Tensor P, Tensor L, Tensor U)")
      .shape<lu_unpack_shape<Size>, lu_unpack_shape<SymInt>>()
      .kernel<lu_unpack_kernel>();
  library
      .define(
          "aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> "
          "(Tensor LD, Tensor pivots, Tensor info)")
      .shape<ldl_factor_shape<Size>, ldl_factor_shape<SymInt>>()
      .kernel<ldl_factor_kernel>();
  library
      .define("aten::linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)")
      .composite<ldl_factor>();
}

}  // namespace flambeau::ops
