// Running sums, products and extremes along a dimension.
#include <cmath>
#include <limits>

#include "flambeau/ops/engines/lines.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"

namespace flambeau::ops {
namespace {

// float is added up in double, as PyTorch does it here.
template <typename T>
using Wider =
    std::conditional_t<std::is_same_v<T, float>, double,
                       std::conditional_t<std::is_same_v<T, std::complex<float>>, std::complex<double>, T>>;

template <typename T, bool kProduct>
void scan_line(const void* input, size_t length, void* const* outputs, const void*) {
  const T* const x = static_cast<const T*>(input);
  T* const y = static_cast<T*>(outputs[0]);
  Wider<T> total(kProduct ? 1 : 0);
  for (size_t i = 0; i < length; ++i) {
    total = kProduct ? wrapping_multiply(total, Wider<T>(x[i])) : wrapping_add(total, Wider<T>(x[i]));
    y[i] = static_cast<T>(total);
  }
}

DType scan_dtype(DType self, std::optional<DType> dtype) {
  return dtype.value_or(is_integral(self) ? DType::kInt64 : self);
}

template <typename N>
Info<N> scan_shape(const Info<N>& self, Size dim, std::optional<DType> dtype) {
  wrap_dim(dim, self.dim());
  return contiguous<N>(scan_dtype(self.dtype, dtype), self.sizes, self.device);
}
template <bool kProduct>
void scan_kernel(Context& context, const Tensor& self, Size dim, std::optional<DType>, Tensor& out) {
  const DType row = compute_dtype(out.dtype());
  const bool rounds = self.dtype() != out.dtype() && out.dtype() != row;
  const Line line =
      with_compute_type(out.dtype(), []<typename T>(T) -> Line { return scan_line<T, kProduct>; });
  const LineOutput outputs[] = {{&out, row}};
  run_lines(context, rounds ? cast(context, self, out.dtype()) : self, wrap_dim(dim, self.dim()), row, line,
            outputs, nullptr, 2);
}

// NaN beats everything; of equal elements the last counts.
template <typename T, bool kLargest>
void extreme_line(const void* input, size_t length, void* const* outputs, const void*) {
  if constexpr (!kIsComplex<T>) {
    const T* const x = static_cast<const T*>(input);
    T* const y = static_cast<T*>(outputs[0]);
    auto* const at = static_cast<int64_t*>(outputs[1]);
    T best = length > 0 ? x[0] : T{};
    int64_t found = 0;
    for (size_t i = 0; i < length; ++i) {
      if (is_nan(x[i]) || (!is_nan(best) && (kLargest ? x[i] >= best : x[i] <= best))) {
        best = x[i];
        found = static_cast<int64_t>(i);
      }
      y[i] = best;
      at[i] = found;
    }
  }
}

template <typename N>
std::tuple<Info<N>, Info<N>> extreme_shape(const Info<N>& self, Size dim) {
  wrap_dim(dim, self.dim());
  return {contiguous<N>(self.dtype, self.sizes, self.device),
          contiguous<N>(DType::kInt64, self.sizes, self.device)};
}
template <bool kLargest>
void extreme_kernel(Context& context, const Tensor& self, Size dim, Tensor& values, Tensor& indices) {
  if (is_complex(self.dtype()))
    fail_dtype(kLargest ? "cummax_helper_cpu" : "cummin_helper_cpu", self.dtype());
  const DType row = compute_dtype(self.dtype());
  const Line line =
      with_compute_type(self.dtype(), []<typename T>(T) -> Line { return extreme_line<T, kLargest>; });
  const LineOutput outputs[] = {{&values, row}, {&indices, DType::kInt64}};
  run_lines(context, self, wrap_dim(dim, self.dim()), row, line, outputs, nullptr, 3);
}

// log(exp(a) + exp(b)); infinities of the same sign give themselves.
double log_add(double a, double b) {
  if (is_nan(a) || is_nan(b)) return std::numeric_limits<double>::quiet_NaN();
  const double least = std::min(a, b);
  const double most = std::max(a, b);
  if (least == most && std::isinf(least)) return least;
  return std::log1p(std::exp(least - most)) + most;
}
std::complex<double> log_add(std::complex<double> a, std::complex<double> b) {
  if (is_nan(a) || is_nan(b)) return {NAN, NAN};
  const bool is_less = a.real() < b.real();
  const std::complex<double> least = is_less ? a : b;
  const std::complex<double> most = is_less ? b : a;
  if (std::isinf(least.real()) && least.real() < 0) return most;
  return most + std::log(1.0 + std::exp(least - most));
}
template <typename T>
void log_sum_line(const void* input, size_t length, void* const* outputs, const void*) {
  if constexpr (!std::is_integral_v<T>) {
    const T* const x = static_cast<const T*>(input);
    T* const y = static_cast<T*>(outputs[0]);
    using W = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;
    W total(-std::numeric_limits<double>::infinity());
    WorkPoller poll;
    for (size_t i = 0; i < length; ++i) {
      poll();
      total = i == 0 ? W(x[0]) : log_add(total, W(x[i]));
      y[i] = static_cast<T>(total);
    }
  }
}
template <typename N>
Info<N> log_sum_shape(const Info<N>& self, Size dim) {
  wrap_dim(dim, self.dim());
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
void log_sum_kernel(Context& context, const Tensor& self, Size dim, Tensor& out) {
  if (is_integral(self.dtype())) fail_dtype("logcumsumexp_out_cpu", self.dtype());
  const DType row = compute_dtype(self.dtype());
  const Line line = with_compute_type(self.dtype(), []<typename T>(T) -> Line { return log_sum_line<T>; });
  const LineOutput outputs[] = {{&out, row}};
  run_lines(context, self, wrap_dim(dim, self.dim()), row, line, outputs, nullptr, 50);
}

}  // namespace

void define_scan(Library& library) {
  library.define("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor")
      .shape<scan_shape<Size>, scan_shape<SymInt>>()
      .kernel<scan_kernel<false>>();
  library.define("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor")
      .shape<scan_shape<Size>, scan_shape<SymInt>>()
      .kernel<scan_kernel<true>>();
  library.define("aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)")
      .shape<extreme_shape<Size>, extreme_shape<SymInt>>()
      .kernel<extreme_kernel<true>>();
  library.define("aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)")
      .shape<extreme_shape<Size>, extreme_shape<SymInt>>()
      .kernel<extreme_kernel<false>>();
  for (const char* const schema : {"aten::logcumsumexp(Tensor self, int dim) -> Tensor",
                                   "aten::_logcumsumexp(Tensor self, int dim) -> Tensor"}) {
    library.define(schema).shape<log_sum_shape<Size>, log_sum_shape<SymInt>>().kernel<log_sum_kernel>();
  }
}

}  // namespace flambeau::ops
