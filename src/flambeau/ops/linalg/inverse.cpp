// Inverses, solutions of whole systems, and determinants: all by L and U.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/kernels/linalg/matrix.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/linalg/batch.h"
#include "flambeau/ops/linalg/solve.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using kernels::linalg::Matrix;
using kernels::linalg::Real;

// ---- solutions

template <typename N>
bool is_vector_side(const Info<N>& a, const Info<N>& b) {
  return b.dim() == 1 || (b.dim() + 1 == a.dim() && batch_sizes(a, 1) == b.sizes);
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>, Info<N>> solve_ex_shape(const Info<N>& a, const Info<N>& b, bool left,
                                                              bool) {
  constexpr std::string_view kName = "linalg.solve";
  require_square_input(kName, a);
  require_alike(kName, a.dtype, b.dtype);
  require(b.dim() > 0, "linalg.solve: B must have at least one dimension");
  const bool is_vector = is_vector_side(a, b);
  require(left || !is_vector,
          "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this "
          "case linalg.solve is equivalent to B / A.squeeze(-1)");
  const N& length = is_vector ? b.sizes.back() : left ? rows_of(b) : columns_of(b);
  if (!(rows_of(a) == length)) {
    fail_argument(fmt::format("{}: Incompatible shapes of A and B for the equation {} (A has {} rows, B {})",
                              kName, left ? "AX = B" : "XA = B", number_text(rows_of(a)),
                              number_text(length)));
  }
  ShortList<N> sizes = broadcast(batch_sizes(a), batch_sizes(b, is_vector ? 1 : 2));
  if (!is_vector) sizes.push_back(rows_of(b));
  sizes.push_back(b.sizes.back());
  Info<N> out = left && sizes.size() >= 2 ? column_major(a.dtype, sizes, a.device)
                                          : contiguous(a.dtype, sizes, a.device);
  return {std::move(out), column_major(a.dtype, a.sizes, a.device),
          contiguous<N>(DType::kInt32, batch_sizes(a, 1), a.device),
          contiguous<N>(DType::kInt32, batch_sizes(a), a.device)};
}
// The same pivots for each matrix of a larger batch.
Tensor spread(Context& context, const Tensor& pivots, const Dims& batch) {
  Dims sizes = batch;
  sizes.push_back(pivots.sizes().back());
  Tensor copy = context.allocate(DType::kInt32, sizes);
  copy_into(context, pivots, copy);
  return copy;
}
void solve_ex_kernel(Context& context, const Tensor& a, const Tensor& b, bool left, bool check_errors,
                     Tensor& out, Tensor& factors, Tensor& pivots, Tensor& info) {
  copy_into(context, a, factors);
  run_lu_factor(context, factors, pivots, info.mutable_data<int32_t>());
  if (check_errors) check_infos(info, "torch.linalg.solve_ex", a.dim() == 2);
  const bool is_vector = is_vector_side(info_of(a), info_of(b));
  const Tensor x = is_vector ? unsqueezed(out, out.dim()) : out;
  copy_into(context, is_vector ? unsqueezed(b, b.dim()) : b, x);
  const Dims batch(x.sizes().span().first(x.dim() - 2));
  if (matrix_count(x) == matrix_count(factors)) {
    run_lu_solve(context, factors, pivots, left, false, x);
  } else {
    run_lu_solve(context, column_copy(context, factors, batch), spread(context, pivots, batch), left, false,
                 x);
  }
}
std::vector<Value> solve_parts(Context& c, const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  return call_with<std::vector<Value>>(c, "aten::_linalg_solve_ex", {a, b},
                                       {{"left", left}, {"check_errors", check_errors}});
}
std::tuple<Tensor, Tensor> solve_ex(Context& c, const Tensor& a, const Tensor& b, bool left,
                                    bool check_errors) {
  const auto results = solve_parts(c, a, b, left, check_errors);
  return {results[0].tensor(), results[3].tensor()};
}
Tensor linalg_solve(Context& c, const Tensor& a, const Tensor& b, bool left) {
  const auto results = solve_parts(c, a, b, left, false);
  call_with<std::vector<Value>>(c, "aten::_linalg_check_errors", {results[3], "torch.linalg.solve"},
                                {{"is_matrix", rank_of(a) == 2}});
  return results[0].tensor();
}

// ---- inverses

template <typename N>
std::tuple<Info<N>, Info<N>> inv_ex_shape(const Info<N>& a, bool) {
  require_square_input("linalg.inv", a);
  return {column_major(a.dtype, a.sizes, a.device), contiguous<N>(DType::kInt32, batch_sizes(a), a.device)};
}
void inv_ex_kernel(Context& context, const Tensor& a, bool check_errors, Tensor& out, Tensor& info) {
  const Tensor factors = column_copy(context, a);
  const Tensor pivots = context.allocate(DType::kInt32, a.sizes().span().first(a.dim() - 1));
  run_lu_factor(context, factors, pivots, info.mutable_data<int32_t>());
  if (check_errors) check_infos(info, "linalg.inv_ex", a.dim() == 2);
  for_linalg_type(a.dtype(), [&]<typename T>() {
    for (int64_t i = 0; i < matrix_count(out); ++i) set_identity(matrix_at<T>(out, i));
  });
  run_lu_solve(context, factors, pivots, true, false, out);
}
Tensor linalg_inv(Context& c, const Tensor& a) {
  const auto results = call<std::vector<Value>>(c, "aten::linalg_inv_ex", a);
  call_with<std::vector<Value>>(c, "aten::_linalg_check_errors", {results[1], "linalg.inv"},
                                {{"is_matrix", rank_of(a) == 2}});
  return results[0].tensor();
}

SymInt product_of(const SymIntList& sizes, size_t from, size_t to) {
  SymInt product = 1;
  for (size_t i = from; i < to; ++i) product *= sizes[i];
  return product;
}
Tensor tensorinv(Context& c, const Tensor& self, Size ind) {
  require(ind > 0, "Expected a strictly positive integer for 'ind'");
  const SymIntList sizes = sizes_of(self);
  const size_t at = std::min(static_cast<size_t>(ind.value()), sizes.size());
  const SymInt rows = product_of(sizes, 0, at), columns = product_of(sizes, at, sizes.size());
  if (!(rows == columns)) {
    fail_argument(
        fmt::format("Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                    "prod(self.shape[:ind]), but got {} "
                    "!= {}",
                    number_text(columns), number_text(rows)));
  }
  SymIntList turned;
  for (size_t i = at; i < sizes.size(); ++i) turned.push_back(sizes[i]);
  for (size_t i = 0; i < at; ++i) turned.push_back(sizes[i]);
  // They are equal: a number says more about the strides of what follows.
  const SymInt side = rows.is_literal() ? rows : columns;
  const Tensor matrix = call(c, "aten::reshape", self, SymIntList{side, side});
  const auto results = call<std::vector<Value>>(c, "aten::linalg_inv_ex", matrix);
  call_with<std::vector<Value>>(c, "aten::_linalg_check_errors", {results[1], "inv"}, {{"is_matrix", true}});
  return call(c, "aten::reshape", results[0].tensor(), turned);
}
Tensor tensorsolve(Context& c, const Tensor& self, const Tensor& other,
                   std::optional<std::span<const Size>> dims) {
  Tensor moved = self;
  if (dims) {
    Dims to;
    const int64_t rank = rank_of(self);
    for (size_t i = 0; i < dims->size(); ++i)
      to.push_back(rank - static_cast<int64_t>(dims->size()) + static_cast<int64_t>(i));
    moved = call(c, "aten::movedim.intlist", self, Dims(*dims), to);
  }
  const SymIntList sizes = sizes_of(moved);
  const size_t at = std::min(static_cast<size_t>(rank_of(other)), sizes.size());
  SymIntList result;
  for (size_t i = at; i < sizes.size(); ++i) result.push_back(sizes[i]);
  const SymInt columns = product_of(result, 0, result.size()), rows = count_of(other);
  if (!(columns == rows)) {
    fail_argument(
        fmt::format("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                    "prod(self.shape[:other.ndim]), "
                    "but got {} != {}",
                    number_text(columns), number_text(rows)));
  }
  const Tensor matrix = call(c, "aten::reshape", moved, SymIntList{columns, columns});
  const Tensor flat = call(c, "aten::flatten.using_ints", other);
  return call(c, "aten::reshape", linalg_solve(c, matrix, flat, true), result);
}

// ---- determinants

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> det_shape(const Info<N>& a) {
  require_square_input("linalg.det", a);
  return {contiguous<N>(a.dtype, batch_sizes(a), a.device), column_major(a.dtype, a.sizes, a.device),
          contiguous<N>(DType::kInt32, batch_sizes(a, 1), a.device)};
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>, Info<N>> slogdet_shape(const Info<N>& a) {
  require_square_input("linalg.slogdet", a);
  const DType real = is_complex(a.dtype) ? to_real(a.dtype) : a.dtype;
  return {contiguous<N>(a.dtype, batch_sizes(a), a.device), contiguous<N>(real, batch_sizes(a), a.device),
          column_major(a.dtype, a.sizes, a.device),
          contiguous<N>(DType::kInt32, batch_sizes(a, 1), a.device)};
}

// Calls body(index, number) for each number of a diagonal, after one that is -1 for an odd number of
// exchanges.
template <typename T, typename Body>
void each_factor(const Tensor& factors, const Tensor& pivots, int64_t i, Body&& body) {
  const Matrix<T> a = matrix_at<T>(factors, i);
  const int32_t* const rows = row_at<int32_t>(pivots, i);
  bool is_odd = false;
  for (int64_t k = 0; k < a.rows; ++k) is_odd = is_odd != (rows[k] != k + 1);
  body(T(is_odd ? -1 : 1));
  for (int64_t k = 0; k < a.rows; ++k) body(a(k, k));
}
void factor_for_det(Context& context, const Tensor& a, const Tensor& factors, const Tensor& pivots) {
  kernels::linalg::ScratchMatrix<int32_t> infos(matrix_count(a), 1);
  // The factors that are given are those of the matrix as it lies, where that is row after row.
  const bool is_turned = a.is_contiguous() && !is_complex(a.dtype());
  copy_into(context, is_turned ? transposed(a) : a, factors);
  run_lu_factor(context, factors, pivots, infos.view().data);
}
void det_kernel(Context& context, const Tensor& a, Tensor& out, Tensor& factors, Tensor& pivots) {
  factor_for_det(context, a, factors, pivots);
  for_linalg_type(a.dtype(), [&]<typename T>() {
    for (int64_t i = 0; i < out.element_count(); ++i) {
      T product = 1;
      each_factor<T>(factors, pivots, i,
                     [&](T number) { product = kernels::linalg::times(product, number); });
      out.mutable_data<T>()[i] = product;
    }
  });
}
void slogdet_kernel(Context& context, const Tensor& a, Tensor& sign, Tensor& logabsdet, Tensor& factors,
                    Tensor& pivots) {
  factor_for_det(context, a, factors, pivots);
  for_linalg_type(a.dtype(), [&]<typename T>() {
    for (int64_t i = 0; i < sign.element_count(); ++i) {
      T direction = 1;
      Real<T> sum = 0;
      each_factor<T>(factors, pivots, i, [&](T number) {
        const Real<T> size = std::abs(number);
        direction = kernels::linalg::times(direction, size == 0 ? T(0) : number / size);
        sum += std::log(size);
      });
      sign.mutable_data<T>()[i] = direction;
      logabsdet.mutable_data<Real<T>>()[i] = sum;
    }
  });
}
Tensor linalg_det(Context& c, const Tensor& a) { return parts::first_of(c, "aten::_linalg_det", a); }
std::tuple<Tensor, Tensor> linalg_slogdet(Context& c, const Tensor& a) {
  const auto results = call<std::vector<Value>>(c, "aten::_linalg_slogdet", a);
  return {results[0].tensor(), results[1].tensor()};
}
Tensor logdet(Context& c, const Tensor& self) {
  require_square_input("logdet", symbolic_info(self));
  const auto [sign, logabsdet] = linalg_slogdet(c, self);
  if (is_complex(self.dtype())) return parts::add(c, call(c, "aten::log", sign), logabsdet);
  const Tensor is_negative = call(c, "aten::eq.Scalar", sign, -1.0);
  return parts::where(c, is_negative, parts::scalar(c, NAN, logabsdet), logabsdet);
}

}  // namespace

void define_inverse(Library& library) {
  library
      .define(
          "aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor "
          "result, Tensor LU, Tensor pivots, Tensor info)")
      .shape<solve_ex_shape<Size>, solve_ex_shape<SymInt>>()
      .kernel<solve_ex_kernel>();
  library
      .define(
          "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor "
          "result, Tensor info)")
      .composite<solve_ex>();
  library.define("aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor")
      .composite<linalg_solve>();
  library.define("aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)")
      .shape<inv_ex_shape<Size>, inv_ex_shape<SymInt>>()
      .kernel<inv_ex_kernel>();
  library.define("aten::linalg_inv(Tensor A) -> Tensor").composite<linalg_inv>();
  library.define("aten::inverse(Tensor self) -> Tensor").composite<linalg_inv>();
  library.define("aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor").composite<tensorinv>();
  library.define("aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor")
      .composite<tensorsolve>();
  library.define("aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)")
      .shape<det_shape<Size>, det_shape<SymInt>>()
      .kernel<det_kernel>();
  library
      .define("aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)")
      .shape<slogdet_shape<Size>, slogdet_shape<SymInt>>()
      .kernel<slogdet_kernel>();
  library.define("aten::linalg_det(Tensor A) -> Tensor").composite<linalg_det>();
  library.define("aten::det(Tensor self) -> Tensor").composite<linalg_det>();
  library.define("aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)")
      .composite<linalg_slogdet>();
  library.define("aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)").composite<linalg_slogdet>();
  library.define("aten::logdet(Tensor self) -> Tensor").composite<logdet>();
}

}  // namespace flambeau::ops
