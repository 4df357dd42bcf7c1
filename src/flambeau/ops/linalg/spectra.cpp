// Eigenvalues and singular values.
#include <fmt/format.h>

#include "flambeau/kernels/linalg/spectrum.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/linalg/batch.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using kernels::linalg::Matrix;
using kernels::linalg::Real;

DType real_type(DType dtype) { return is_complex(dtype) ? to_real(dtype) : dtype; }

// What iterations that did not end leave behind, by matrix.
class Failures {
 public:
  explicit Failures(const Tensor& matrices)
      : infos_(Tensor::zeros(DType::kInt32, Dims{matrix_count(matrices)})), is_matrix_(matrices.dim() == 2) {}
  void set(int64_t index, bool converged) { infos_.mutable_data<int32_t>()[index] = converged ? 0 : 1; }
  void check(std::string_view name) const { check_infos(infos_, name, is_matrix_); }

 private:
  Tensor infos_;
  bool is_matrix_;
};

// A tracer gets what PyTorch's gets: vectors that are perhaps not used.
bool is_traced(const Context& context) { return context.interceptor != nullptr; }

// ---- Hermitian matrices

bool is_upper_half(std::string_view half) {
  const char first = half.size() == 1 ? half[0] : ' ';
  if (first == 'U' || first == 'u') return true;
  if (first == 'L' || first == 'l') return false;
  fail_argument(fmt::format("Expected UPLO argument to be 'L' or 'U', but got {}", half));
}
template <typename N>
std::tuple<Info<N>, Info<N>> eigh_shape(const Info<N>& a, std::string_view half, bool with_vectors) {
  require_square_input("linalg.eigh", a);
  is_upper_half(half);
  return {contiguous<N>(real_type(a.dtype), batch_sizes(a, 1), a.device),
          with_vectors ? column_major(a.dtype, a.sizes, a.device) : no_result<N>(a.dtype, a.device)};
}
void eigh_kernel(Context& context, const Tensor& a, std::string_view half, bool with_vectors, Tensor& values,
                 Tensor& vectors) {
  const bool is_upper = is_upper_half(half);
  if (with_vectors) copy_into(context, a, vectors);
  const Tensor work = with_vectors ? vectors : column_copy(context, a);
  Failures failures(a);
  for_linalg_type(a.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(a), 9 * cubic_cost(a), [&](int64_t i) {
      const Matrix<T> matrix = matrix_at<T>(work, i);
      mirror(matrix, is_upper);
      failures.set(i, kernels::linalg::eigen_hermitian(context.pool(), matrix, row_at<Real<T>>(values, i),
                                                       with_vectors));
    });
  });
  failures.check("linalg.eigh");
}
std::vector<Value> eigh(Context& c, const Tensor& self, std::string_view half) {
  return call<std::vector<Value>>(c, "aten::_linalg_eigh", self, std::string(half));
}
Tensor eigvalsh(Context& c, const Tensor& self, std::string_view half) {
  return parts::first_of(c, "aten::_linalg_eigh", self, std::string(half), is_traced(c));
}

// ---- general matrices

template <typename N>
std::tuple<Info<N>, Info<N>> eig_shape(const Info<N>& self) {
  require_square_input("linalg.eig", self);
  const DType complex = is_complex(self.dtype) ? self.dtype : to_complex(self.dtype);
  return {contiguous<N>(complex, batch_sizes(self, 1), self.device),
          column_major(complex, self.sizes, self.device)};
}
template <typename N>
Info<N> eigvals_shape(const Info<N>& self) {
  return std::get<0>(eig_shape(self));
}
// In float64, whatever the type.
void run_eig(Context& context, const Tensor& self, const Tensor& values, const Tensor* vectors) {
  require_finite("torch.linalg.eig", self);
  const bool complex = is_complex(self.dtype());
  const Info<Size> wide =
      column_major<Size>(complex ? DType::kComplex128 : DType::kFloat64, info_of(self).sizes, self.device());
  const Tensor work = context.allocate(wide);
  copy_into(context, self, work);
  const Tensor wide_values = context.allocate(DType::kComplex128, values.sizes());
  Tensor wide_vectors;
  if (vectors != nullptr) {
    wide_vectors = context.allocate(column_major<Size>(DType::kComplex128, wide.sizes, self.device()));
  }
  Failures failures(self);
  const auto run = [&]<typename T>() {
    using C = std::complex<double>;
    each_matrix(context, matrix_count(self), 25 * cubic_cost(self), [&](int64_t i) {
      failures.set(i, kernels::linalg::eigen_general(
                          context.pool(), matrix_at<T>(work, i), row_at<C>(wide_values, i),
                          vectors == nullptr ? Matrix<C>{} : matrix_at<C>(wide_vectors, i)));
    });
  };
  complex ? run.operator()<std::complex<double>>() : run.operator()<double>();
  failures.check("torch.linalg.eig");
  copy_into(context, wide_values, values);
  if (vectors != nullptr) copy_into(context, wide_vectors, *vectors);
}
void eig_kernel(Context& context, const Tensor& self, Tensor& values, Tensor& vectors) {
  run_eig(context, self, values, &vectors);
}
void eigvals_kernel(Context& context, const Tensor& self, Tensor& values) {
  run_eig(context, self, values, nullptr);
}
Tensor eigvals(Context& c, const Tensor& self) {
  if (is_traced(c)) return parts::first_of(c, "aten::linalg_eig", self);
  return call(c, "aten::_linalg_eigvals", self);
}

// ---- singular values

using Driver = std::optional<std::string_view>;

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> svd_shape(const Info<N>& a, bool full, bool with_vectors,
                                                Driver driver) {
  require_matrix_input("linalg.svd", a);
  require(!driver,
          "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
          "cuSOLVER backend.");
  const N& rows = rows_of(a);
  const N& columns = columns_of(a);
  const N side = min(rows, columns);
  const ShortList<N> batch = batch_sizes(a);
  const Info<N> values = contiguous<N>(real_type(a.dtype), with_sizes(batch, side), a.device);
  if (!with_vectors) return {no_result<N>(a.dtype, a.device), values, no_result<N>(a.dtype, a.device)};
  return {column_major(a.dtype, with_sizes(batch, rows, full ? rows : side), a.device), values,
          column_major(a.dtype, with_sizes(batch, full ? columns : side, columns), a.device)};
}
void svd_kernel(Context& context, const Tensor& a, bool, bool with_vectors, Driver, Tensor& u, Tensor& s,
                Tensor& vh) {
  require_finite("linalg.svd", a);
  const Tensor work = column_copy(context, a);
  Failures failures(a);
  for_linalg_type(a.dtype(), [&]<typename T>() {
    each_matrix(context, matrix_count(a), 20 * cubic_cost(a), [&](int64_t i) {
      failures.set(i, kernels::linalg::singular_values(context.pool(), matrix_at<T>(work, i),
                                                       with_vectors ? matrix_at<T>(u, i) : Matrix<T>{},
                                                       row_at<Real<T>>(s, i),
                                                       with_vectors ? matrix_at<T>(vh, i) : Matrix<T>{}));
    });
  });
  failures.check("linalg.svd");
}
Value driver_value(Driver driver) { return driver ? Value(std::string(*driver)) : Value(); }
std::vector<Value> linalg_svd(Context& c, const Tensor& a, bool full, Driver driver) {
  return call_with<std::vector<Value>>(c, "aten::_linalg_svd", {a, full}, {{"driver", driver_value(driver)}});
}
Tensor svdvals(Context& c, const Tensor& a, Driver driver) {
  return call_with<std::vector<Value>>(c, "aten::_linalg_svd", {a, false, is_traced(c)},
                                       {{"driver", driver_value(driver)}})[1]
      .tensor();
}
std::tuple<Tensor, Tensor, Tensor> svd(Context& c, const Tensor& self, bool some, bool with_vectors) {
  require_matrices("linalg.svd", symbolic_info(self));
  if (with_vectors) {
    const auto results = linalg_svd(c, self, !some, {});
    return {results[0].tensor(), results[1].tensor(), call(c, "aten::mH", results[2].tensor())};
  }
  const Tensor values = svdvals(c, self, {});
  const auto zeros = [&](int64_t dim) {
    SymIntList sizes = sizes_of(self);
    sizes[sizes.size() - 2] = sizes.back() = size_of(self, dim);
    return call_with(c, "aten::zeros", {sizes}, {{"dtype", self.dtype()}, {"device", self.device()}});
  };
  const Tensor u = zeros(-2);
  return {u, values, call(c, "aten::mH", zeros(-1))};
}

}  // namespace

void define_spectra(Library& library) {
  library
      .define(
          "aten::_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor "
          "eigenvectors)")
      .shape<eigh_shape<Size>, eigh_shape<SymInt>>()
      .kernel<eigh_kernel>();
  library
      .define("aten::linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)")
      .composite<eigh>();
  library.define("aten::linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor").composite<eigvalsh>();
  library.define("aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)")
      .shape<eig_shape<Size>, eig_shape<SymInt>>()
      .kernel<eig_kernel>();
  library.define("aten::_linalg_eigvals(Tensor self) -> Tensor")
      .shape<eigvals_shape<Size>, eigvals_shape<SymInt>>()
      .kernel<eigvals_kernel>();
  library.define("aten::linalg_eigvals(Tensor self) -> Tensor").composite<eigvals>();
  library
      .define(
          "aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) "
          "-> "
          "(Tensor U, Tensor S, Tensor Vh)")
      .shape<svd_shape<Size>, svd_shape<SymInt>>()
      .kernel<svd_kernel>();
  library
      .define(
          "aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, "
          "Tensor Vh)")
      .composite<linalg_svd>();
  library.define("aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor").composite<svdvals>();
  library
      .define(
          "aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)")
      .composite<svd>();
}

}  // namespace flambeau::ops
