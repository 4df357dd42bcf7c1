// Exponentials and powers, ranks, pseudo-inverses and condition numbers.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/kernels/linalg/spectrum.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/linalg/batch.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

bool is_short(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

template <typename N>
Info<N> exp_shape(const Info<N>& self) {
  require_square("linalg.matrix_exp", self);
  if (!is_short(self.dtype)) require_linalg_type("linalg.matrix_exp", self.dtype);
  return contiguous(self.dtype, self.sizes, self.device);
}
// In float64, whatever the type: each squaring doubles what rounding left.
void exp_kernel(Context& context, const Tensor& self, Tensor& out) {
  const DType dtype = is_complex(self.dtype()) ? DType::kComplex128 : DType::kFloat64;
  const Tensor matrices = context.allocate(column_major<Size>(dtype, info_of(self).sizes, self.device()));
  copy_into(context, self, matrices);
  const auto run = [&]<typename T>() {
    each_matrix(context, matrix_count(self), 20 * cubic_cost(self),
                [&](int64_t i) { kernels::linalg::exponential(context.pool(), matrix_at<T>(matrices, i)); });
  };
  is_complex(dtype) ? run.operator()<std::complex<double>>() : run.operator()<double>();
  copy_into(context, matrices, out);
}
Tensor matrix_exp(Context& c, const Tensor& self) { return call(c, "aten::linalg_matrix_exp", self); }

Tensor matrix_power(Context& c, const Tensor& self, Size n) {
  require_square("linalg.matrix_power", symbolic_info(self));
  const auto copied = [&] {
    return call_with(c, "aten::clone", {self}, {{"memory_format", MemoryFormat::kContiguous}});
  };
  if (n == Size(0)) {
    const Tensor unit =
        call_with(c, "aten::eye", {size_of(self, -1)}, {{"dtype", self.dtype()}, {"device", self.device()}});
    return call(c, "aten::copy_", copied(), unit);
  }
  if (n == Size(1)) return copied();
  Tensor a = n < Size(0) ? call(c, "aten::linalg_inv", self) : self;
  uint64_t rest = static_cast<uint64_t>(n.value());
  if (n < Size(0)) rest = 0 - rest;
  if (rest == 1) return a;
  const auto times = [&](const Tensor& x, const Tensor& y) { return call(c, "aten::matmul", x, y); };
  if (rest == 2) return times(a, a);
  if (rest == 3) return times(times(a, a), a);
  Tensor square, result;
  for (; rest > 0; rest /= 2) {
    square = square.defined() ? times(square, square) : a;
    if (rest % 2 == 1) result = result.defined() ? times(result, square) : square;
  }
  return result;
}

// ---- what counts as zero

Tensor double_number(Context& c, double number, const Tensor& like) {
  return call_with(c, "aten::full", {Dims{}, number},
                   {{"dtype", DType::kFloat64}, {"device", like.device()}});
}
Tensor zero_number(Context& c, DType dtype, const Tensor& like) {
  return call_with(c, "aten::zeros", {Dims{}}, {{"dtype", dtype}, {"device", like.device()}});
}
// Relative to the largest value, of as many roundings as the longer side has numbers.
double default_tolerance(const Tensor& self) {
  const DType real = is_complex(self.dtype()) ? to_real(self.dtype()) : self.dtype();
  const double epsilon =
      real == DType::kFloat64 ? kernels::linalg::kEpsilon<double> : double(kernels::linalg::kEpsilon<float>);
  return epsilon * static_cast<double>(std::max(fixed(size_of(self, -1)), fixed(size_of(self, -2))));
}
struct Tolerances {
  Tensor absolute;
  Tensor relative;
};
Tolerances tolerances(Context& c, const Tensor& self, std::string_view name, const Tensor* atol,
                      const Tensor* rtol) {
  for (const Tensor* const given : {atol, rtol}) {
    if (given == nullptr || !is_complex(given->dtype())) continue;
    fail_argument(fmt::format("{}: tolerances of complex type are not supported.", name));
  }
  Tolerances found;
  if (atol == nullptr) found.absolute = zero_number(c, DType::kFloat64, self);
  if (rtol == nullptr) found.relative = double_number(c, default_tolerance(self), self);
  if (atol != nullptr) {
    found.absolute = *atol;
    if (rtol == nullptr) {
      const Tensor zero = zero_number(c, DType::kFloat64, self);
      found.relative = parts::where(c, call(c, "aten::gt.Scalar", *atol, 0), zero, found.relative);
    }
  }
  if (rtol != nullptr) found.relative = *rtol;
  return found;
}
Tolerances tolerances(Context& c, const Tensor& self, std::optional<double> atol,
                      std::optional<double> rtol) {
  const double absolute = atol.value_or(0);
  const double relative = rtol ? *rtol : absolute > 0 ? 0 : default_tolerance(self);
  Tolerances found;
  found.absolute = double_number(c, absolute, self);
  found.relative = double_number(c, relative, self);
  return found;
}
// Values above this one count.
Tensor limit_of(Context& c, const Tolerances& given, const Tensor& largest) {
  const Tensor relative = parts::mul(c, call(c, "aten::unsqueeze", given.relative, -1), largest);
  return call(c, "aten::maximum", call(c, "aten::unsqueeze", given.absolute, -1), relative);
}
Tensor largest_value(Context& c, const Tensor& values) {
  return call(c, "aten::slice.Tensor", values, -1, 0, 1);
}
Tensor largest_size(Context& c, const Tensor& sizes) { return call(c, "aten::amax", sizes, Dims{-1}, true); }

// ---- ranks

Tensor rank_above(Context& c, const Tensor& self, const Tolerances& given, bool hermitian) {
  if (count_of(self) == SymInt(0)) {
    SymIntList sizes = sizes_of(self);
    sizes.erase(sizes.size() - 1);
    sizes.erase(sizes.size() - 1);
    return call_with(c, "aten::zeros", {sizes}, {{"dtype", DType::kInt64}, {"device", self.device()}});
  }
  Tensor values, largest;
  if (hermitian) {
    values = call(c, "aten::abs", call(c, "aten::linalg_eigvalsh", self));
    largest = largest_size(c, values);
  } else {
    values = call(c, "aten::linalg_svdvals", self);
    largest = largest_value(c, values);
  }
  const Tensor counts = call(c, "aten::gt.Tensor", values, limit_of(c, given, largest));
  return call(c, "aten::sum.dim_IntList", counts, Dims{-1});
}
void require_rank_input(const Tensor& self, bool hermitian) {
  const Info<SymInt> info = symbolic_info(self);
  require_matrix_input("torch.linalg.matrix_rank", info);
  if (hermitian) require_square("torch.linalg.matrix_rank", info);
}
Tensor rank_tensor(Context& c, const Tensor& self, const Tensor* atol, const Tensor* rtol, bool hermitian) {
  require_rank_input(self, hermitian);
  return rank_above(c, self, tolerances(c, self, "torch.linalg.matrix_rank", atol, rtol), hermitian);
}
Tensor rank_float(Context& c, const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                  bool hermitian) {
  require_rank_input(self, hermitian);
  return rank_above(c, self, tolerances(c, self, atol, rtol), hermitian);
}
Tensor rank_tol(Context& c, const Tensor& self, double tol, bool hermitian) {
  return rank_float(c, self, tol, 0.0, hermitian);
}
Tensor rank_tol_tensor(Context& c, const Tensor& self, const Tensor& tol, bool hermitian) {
  const Tensor zero = zero_number(c, tol.dtype(), self);
  return rank_tensor(c, self, &tol, &zero, hermitian);
}

// ---- pseudo-inverses

Tensor pinv_tensor(Context& c, const Tensor& self, const Tensor* atol, const Tensor* rtol, bool hermitian) {
  constexpr std::string_view kName = "linalg.pinv";
  const Info<SymInt> info = symbolic_info(self);
  require_matrix_input(kName, info);
  if (hermitian) require_square(kName, info);
  if (count_of(self) == SymInt(0)) {
    SymIntList sizes = sizes_of(self);
    std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    return parts::empty(c, sizes, self);
  }
  const Tolerances given = tolerances(c, self, kName, atol, rtol);
  const auto inverted = [&](const Tensor& values, const Tensor& sizes, const Tensor& largest) {
    const Tensor counts = call(c, "aten::gt.Tensor", sizes, limit_of(c, given, largest));
    const Tensor zero = zero_number(c, values.dtype(), self);
    const Tensor inverse = parts::where(c, counts, call(c, "aten::reciprocal", values), zero);
    return call(c, "aten::unsqueeze", parts::to_dtype(c, inverse, self.dtype()), -2);
  };
  const auto adjoint = [&](const Tensor& matrix) { return call(c, "aten::mH", matrix); };
  if (hermitian) {
    const auto results = call<std::vector<Value>>(c, "aten::linalg_eigh", self);
    const Tensor values = results[0].tensor(), vectors = results[1].tensor();
    const Tensor sizes = call(c, "aten::abs", values);
    const Tensor scaled = parts::mul(c, vectors, inverted(values, sizes, largest_size(c, sizes)));
    return call(c, "aten::matmul", scaled, adjoint(vectors));
  }
  const auto results = call<std::vector<Value>>(c, "aten::linalg_svd", self, false);
  const Tensor values = results[1].tensor();
  const Tensor scaled =
      parts::mul(c, adjoint(results[2].tensor()), inverted(values, values, largest_value(c, values)));
  return call(c, "aten::matmul", scaled, adjoint(results[0].tensor()));
}
Tensor pinv_above(Context& c, const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  return call_with(c, "aten::linalg_pinv.atol_rtol_tensor", {self},
                   {{"atol", atol}, {"rtol", rtol}, {"hermitian", hermitian}});
}
Tensor pinv_float(Context& c, const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                  bool hermitian) {
  require_matrices("linalg.pinv", symbolic_info(self));
  const Tolerances given = tolerances(c, self, atol, rtol);
  return pinv_above(c, self, given.absolute, given.relative, hermitian);
}
Tensor pinv_rcond(Context& c, const Tensor& self, double rcond, bool hermitian) {
  return pinv_float(c, self, 0.0, rcond, hermitian);
}
Tensor pinv_rcond_tensor(Context& c, const Tensor& self, const Tensor& rcond, bool hermitian) {
  return pinv_above(c, self, zero_number(c, DType::kFloat64, self), rcond, hermitian);
}
Tensor pinverse(Context& c, const Tensor& self, double rcond) { return pinv_rcond(c, self, rcond, false); }

// ---- condition numbers

Tensor cond_of_nothing(Context& c, const Tensor& self) {
  SymIntList sizes = sizes_of(self);
  sizes.erase(sizes.size() - 1);
  sizes.erase(sizes.size() - 1);
  const DType real = is_complex(self.dtype()) ? to_real(self.dtype()) : self.dtype();
  return call_with(c, "aten::zeros", {sizes}, {{"dtype", real}, {"device", self.device()}});
}
// The norm times that of the inverse, which is infinite where there is none.
template <typename Order>
Tensor cond_by_inverse(Context& c, const Tensor& self, std::string_view norm, const Order& order) {
  require_square("linalg.cond", symbolic_info(self));
  const auto results = call<std::vector<Value>>(c, "aten::linalg_inv_ex", self);
  Tensor info = results[1].tensor();
  for (int i = 0; i < 2; ++i) info = call(c, "aten::unsqueeze_", info, -1);
  const Tensor is_singular = call(c, "aten::gt.Scalar", info, 0);
  const Tensor inverse =
      call(c, "aten::masked_fill_.Scalar", results[0].tensor(), is_singular, double(INFINITY));
  const Tensor first = call(c, norm, self, order), second = call(c, norm, inverse, order);
  return call(c, "aten::nan_to_num_", parts::mul(c, first, second), double(INFINITY), double(INFINITY),
              -double(INFINITY));
}
Tensor cond(Context& c, const Tensor& self, std::optional<Scalar> p) {
  require_matrices("linalg.cond", symbolic_info(self));
  const double order = p ? p->to_double() : 2;
  const bool by_values = std::abs(order) == 2;
  if (!by_values && std::abs(order) != 1 && !std::isinf(order)) {
    fail_argument(fmt::format("linalg.cond got an invalid norm type: {}", order));
  }
  if (count_of(self) == SymInt(0)) return cond_of_nothing(c, self);
  if (!by_values) return cond_by_inverse(c, self, "aten::linalg_matrix_norm", Value(*p));
  const Tensor values = call(c, "aten::linalg_svdvals", self);
  const Tensor most = largest_value(c, values);
  const SymInt count = size_of(values, -1);
  const Tensor least = call(c, "aten::slice.Tensor", values, -1, count - SymInt(1), count);
  const Tensor ratio = order < 0 ? parts::div(c, least, most) : parts::div(c, most, least);
  return call(c, "aten::squeeze.dim", ratio, -1);
}
Tensor cond_named(Context& c, const Tensor& self, std::string_view p) {
  require_matrices("linalg.cond", symbolic_info(self));
  if (p != "fro" && p != "nuc") fail_argument(fmt::format("linalg.cond got an invalid norm type: {}", p));
  if (count_of(self) == SymInt(0)) return cond_of_nothing(c, self);
  if (p == "fro") return cond_by_inverse(c, self, "aten::linalg_matrix_norm.str_ord", std::string(p));
  const Tensor values = call(c, "aten::linalg_svdvals", self);
  const Tensor inverse = call(c, "aten::sum.dim_IntList", call(c, "aten::reciprocal", values), Dims{-1});
  return parts::mul(c, call(c, "aten::sum.dim_IntList", values, Dims{-1}), inverse);
}

}  // namespace

void define_functions_of_matrices(Library& library) {
  library.define("aten::linalg_matrix_exp(Tensor self) -> Tensor")
      .shape<exp_shape<Size>, exp_shape<SymInt>>()
      .kernel<exp_kernel>();
  library.define("aten::matrix_exp(Tensor self) -> Tensor").composite<matrix_exp>();
  library.define("aten::linalg_matrix_power(Tensor self, int n) -> Tensor").composite<matrix_power>();
  library.define("aten::matrix_power(Tensor self, int n) -> Tensor").composite<matrix_power>();
  library.define("aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor")
      .composite<rank_tol>();
  library
      .define(
          "aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
          "hermitian=False) -> Tensor")
      .composite<rank_float>();
  library
      .define(
          "aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, "
          "bool hermitian=False) -> Tensor")
      .composite<rank_tensor>();
  library
      .define("aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor")
      .composite<rank_tol_tensor>();
  library.define("aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor")
      .composite<pinv_rcond>();
  library
      .define(
          "aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
          "hermitian=False) -> Tensor")
      .composite<pinv_float>();
  library
      .define(
          "aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool "
          "hermitian=False) -> Tensor")
      .decomposition<pinv_tensor>();
  library.define("aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor")
      .composite<pinv_rcond_tensor>();
  library.define("aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor")
      .composite<pinverse>();
  library.define("aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor").composite<cond>();
  library.define("aten::linalg_cond.p_str(Tensor self, str p) -> Tensor").composite<cond_named>();
}

}  // namespace flambeau::ops
