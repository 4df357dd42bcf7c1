// Q and R, and products of reflections: geqrf, linalg_qr, householder_product, ormqr.
#include <fmt/format.h>

#include "flambeau/kernels/linalg/reflect.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/linalg/batch.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {
namespace {

using kernels::linalg::Matrix;

template <typename N>
std::tuple<Info<N>, Info<N>> geqrf_shape(const Info<N>& self) {
  require_matrix_input("torch.geqrf", self);
  return {column_major(self.dtype, self.sizes, self.device),
          contiguous<N>(self.dtype, with_sizes(batch_sizes(self), min(rows_of(self), columns_of(self))),
                        self.device)};
}
void geqrf_kernel(Context& context, const Tensor& self, Tensor& a, Tensor& tau) {
  copy_into(context, self, a);
  for_linalg_type(self.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(a), 2 * cubic_cost(a), [&](int64_t i) {
      kernels::linalg::factor_qr(context.pool(), matrix_at<T>(a, i), row_at<T>(tau, i));
    });
  });
}

enum class QrMode : uint8_t { kReduced, kComplete, kR };
QrMode qr_mode(std::string_view mode) {
  if (mode == "reduced") return QrMode::kReduced;
  if (mode == "complete") return QrMode::kComplete;
  if (mode == "r") return QrMode::kR;
  fail_argument(fmt::format(
      "qr received unrecognized mode '{}' but expected one of 'reduced' (default), 'r', or 'complete'",
      mode));
}
template <typename N>
std::tuple<Info<N>, Info<N>> qr_shape(const Info<N>& a, std::string_view mode_name) {
  require_matrix_input("linalg.qr", a);
  const QrMode mode = qr_mode(mode_name);
  const N side = mode == QrMode::kComplete ? rows_of(a) : min(rows_of(a), columns_of(a));
  const ShortList<N> batch = batch_sizes(a);
  return {mode == QrMode::kR ? no_result<N>(a.dtype, a.device)
                             : column_major(a.dtype, with_sizes(batch, rows_of(a), side), a.device),
          column_major(a.dtype, with_sizes(batch, side, columns_of(a)), a.device)};
}
void qr_kernel(Context& context, const Tensor& a, std::string_view mode_name, Tensor& q, Tensor& r) {
  const bool wants_q = qr_mode(mode_name) != QrMode::kR;
  const Tensor factors = column_copy(context, a);
  for_linalg_type(a.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(a), 4 * cubic_cost(a), [&](int64_t i) {
      const Matrix<T> from = matrix_at<T>(factors, i), upper = matrix_at<T>(r, i);
      const int64_t side = from.shorter_side();
      kernels::linalg::ScratchMatrix<T> tau(side, 1);
      kernels::linalg::factor_qr(context.pool(), from, tau.view().data);
      WorkPoller poll;
      for (int64_t c = 0; c < upper.columns; ++c) {
        poll(static_cast<size_t>(upper.rows));
        for (int64_t row = 0; row < upper.rows; ++row) upper(row, c) = row <= c ? from(row, c) : T(0);
      }
      if (!wants_q) return;
      const Matrix<T> out = matrix_at<T>(q, i);
      set_identity(out);
      kernels::linalg::apply_q(context.pool(), from, tau.view().data, side, out);
    });
  });
}
std::vector<Value> qr(Context& c, const Tensor& self, bool some) {
  return call<std::vector<Value>>(c, "aten::linalg_qr", self, some ? "reduced" : "complete");
}

template <typename N>
Info<N> householder_shape(const Info<N>& input, const Info<N>& tau) {
  constexpr std::string_view kName = "torch.linalg.householder_product";
  require_matrix_input(kName, input);
  if (rows_of(input) < columns_of(input)) {
    fail_argument(fmt::format("{}: input.shape[-2] must be greater than or equal to input.shape[-1]", kName));
  }
  require(tau.dim() + 1 == input.dim() && batch_sizes(tau, 1) == batch_sizes(input),
          "torch.linalg.householder_product: tau must have the batch of input, and one dimension less");
  if (columns_of(input) < tau.sizes.back()) {
    fail_argument(fmt::format("{}: input.shape[-1] must be greater than or equal to tau.shape[-1]", kName));
  }
  require_alike(kName, input.dtype, tau.dtype);
  return column_major(input.dtype, input.sizes, input.device);
}
void householder_kernel(Context& context, const Tensor& input, const Tensor& tau, Tensor& out) {
  const Tensor reflections = column_copy(context, input);
  const Tensor factors = tau.to_contiguous();
  for_linalg_type(out.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(out), 2 * cubic_cost(out), [&](int64_t i) {
      set_identity(matrix_at<T>(out, i));
      if (factors.element_count() == 0) return;
      kernels::linalg::apply_q(context.pool(), matrix_at<T>(reflections, i),
                               factors.data<T>() + i * factors.sizes().back(), factors.sizes().back(),
                               matrix_at<T>(out, i));
    });
  });
}

Tensor orgqr(Context& c, const Tensor& self, const Tensor& tau) {
  return call(c, "aten::linalg_householder_product", self, tau);
}

template <typename N>
Info<N> ormqr_shape(const Info<N>& self, const Info<N>& tau, const Info<N>& other, bool left, bool) {
  constexpr std::string_view kName = "torch.ormqr";
  require_matrix_input(kName, self);
  require_matrices(kName, other, "other");
  require_alike(kName, self.dtype, other.dtype);
  require_alike(kName, self.dtype, tau.dtype);
  if (!((left ? rows_of(other) : columns_of(other)) == rows_of(self))) {
    fail_argument(fmt::format("{}: other.shape[{}] must be equal to input.shape[-2]", kName, left ? -2 : -1));
  }
  require(tau.dim() + 1 == self.dim() && batch_sizes(tau, 1) == batch_sizes(self) &&
              batch_sizes(other) == batch_sizes(self),
          "torch.ormqr: tau and other must have the batch of input, and tau one dimension less");
  if (columns_of(self) < tau.sizes.back() || rows_of(self) < tau.sizes.back()) {
    fail_argument(fmt::format("{}: tau.shape[-1] must be less than or equal to the sizes of input", kName));
  }
  return column_major(other.dtype, other.sizes, other.device);
}
void ormqr_kernel(Context& context, const Tensor& self, const Tensor& tau, const Tensor& other, bool left,
                  bool transpose, Tensor& out) {
  copy_into(context, other, out);
  const Tensor reflections = column_copy(context, self);
  const Tensor factors = tau.to_contiguous();
  if (factors.element_count() == 0) return;
  for_linalg_type(out.dtype(), [&]<typename T>() {
    const double cost = static_cast<double>(factors.sizes().back()) * 4 *
                        static_cast<double>(out.sizes()[out.dim() - 2] * out.sizes().back());
    each_matrix(context, matrix_count(out), cost, [&](int64_t i) {
      kernels::linalg::apply_q(context.pool(), matrix_at<T>(reflections, i),
                               factors.data<T>() + i * factors.sizes().back(), factors.sizes().back(),
                               matrix_at<T>(out, i), {.is_left = left, .is_adjoint = transpose});
    });
  });
}

}  // namespace

void define_orthogonal(Library& library) {
  library.define("aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)")
      .shape<geqrf_shape<Size>, geqrf_shape<SymInt>>()
      .kernel<geqrf_kernel>();
  library.define("aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)")
      .shape<qr_shape<Size>, qr_shape<SymInt>>()
      .kernel<qr_kernel>();
  library.define("aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)").composite<qr>();
  library.define("aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor")
      .shape<householder_shape<Size>, householder_shape<SymInt>>()
      .kernel<householder_kernel>();
  library.define("aten::orgqr(Tensor self, Tensor input2) -> Tensor").composite<orgqr>();
  library
      .define(
          "aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> "
          "Tensor")
      .shape<ormqr_shape<Size>, ormqr_shape<SymInt>>()
      .kernel<ormqr_kernel>();
}

}  // namespace flambeau::ops
