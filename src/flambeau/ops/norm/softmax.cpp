// Softmax and its logarithm.
#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/lines.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/norm/row_loops.h"
#include "flambeau/ops/reduce/fold_loops.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::ops {
namespace {

void softmax_floats(const void* input, size_t length, void* const* outputs, const void*) {
  static const auto row = FLAMBEAU_PICK(softmax_row);
  row(static_cast<const float*>(input), static_cast<float*>(outputs[0]), length);
}
void log_softmax_floats(const void* input, size_t length, void* const* outputs, const void*) {
  static const auto row = FLAMBEAU_PICK(log_softmax_row);
  row(static_cast<const float*>(input), static_cast<float*>(outputs[0]), length);
}

// The last dimension in half precision: PyTorch keeps the sum, and its logarithm, in half precision.
float rounded(DType dtype, float x) {
  return dtype == DType::kFloat16 ? Float16::from_float(x).to_float() : BFloat16::from_float(x).to_float();
}
void log_softmax_halves(const void* input, size_t length, void* const* outputs, const void* parameters) {
  static const auto most_of = FLAMBEAU_PICK(max_row);
  static const auto sum_of = FLAMBEAU_PICK(exp_sum_row);
  const DType dtype = *static_cast<const DType*>(parameters);
  const auto* const x = static_cast<const float*>(input);
  auto* const y = static_cast<float*>(outputs[0]);
  const float most = most_of(x, length);
  const float log_sum = rounded(dtype, std::log(rounded(dtype, sum_of(x, length, most))));
  for (size_t i = 0; i < length; ++i) y[i] = x[i] - most - log_sum;
}

template <bool kLog>
void softmax_doubles(const void* input, size_t length, void* const* outputs, const void*) {
  const auto* const x = static_cast<const double*>(input);
  auto* const y = static_cast<double*>(outputs[0]);
  double most = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < length; ++i) most = x[i] > most || x[i] != x[i] ? x[i] : most;
  double sum = 0;
  for (size_t i = 0; i < length; ++i) {
    const double e = std::exp(x[i] - most);
    sum += e;
    if constexpr (!kLog) y[i] = e;
  }
  const double log_sum = std::log(sum);
  for (size_t i = 0; i < length; ++i) y[i] = kLog ? x[i] - most - log_sum : y[i] / sum;
}

// Rows that are -inf all over become 0 rather than NaN.
void safe_softmax_floats(const void* input, size_t length, void* const* outputs, const void*) {
  softmax_floats(input, length, outputs, nullptr);
  const auto* const x = static_cast<const float*>(input);
  auto* const y = static_cast<float*>(outputs[0]);
  for (size_t i = 0; i < length; ++i) {
    if (x[i] != -std::numeric_limits<float>::infinity()) return;
  }
  std::fill(y, y + length, 0.0F);
}
void safe_softmax_doubles(const void* input, size_t length, void* const* outputs, const void*) {
  const auto* const x = static_cast<const double*>(input);
  const bool is_masked = std::all_of(
      x, x + length, [](double value) { return value == -std::numeric_limits<double>::infinity(); });
  softmax_doubles<false>(input, length, outputs, nullptr);
  if (is_masked) std::fill_n(static_cast<double*>(outputs[0]), length, 0.0);
}

template <typename N>
Info<N> softmax_info(const Info<N>& self, Size dim, DType dtype) {
  wrap_dim(dim, self.dim());
  return contiguous<N>(dtype, self.sizes, self.device);
}

template <typename N>
Info<N> softmax_shape(const Info<N>& self, Size dim, bool half_to_float) {
  if (half_to_float) {
    throw Error(ErrorCode::kUnsupported, "softmax with half to float conversion is not supported on CPU");
  }
  return softmax_info(self, dim, self.dtype);
}

void run_softmax(Context& context, const Tensor& self, int64_t dim, Line floats, Line doubles,
                 std::string_view name, Tensor& out) {
  if (!is_floating(self.dtype()) || dtype_size(self.dtype()) == 1) fail_dtype(name, self.dtype());
  const DType row = compute_dtype(self.dtype());
  const LineOutput outputs[] = {{&out, row}};
  const size_t d = wrap_dim(dim, self.dim());
  Line line = row == DType::kFloat32 ? floats : doubles;
  const DType dtype = self.dtype();
  if (line == &log_softmax_floats && dtype != row && d + 1 >= self.dim()) line = log_softmax_halves;
  run_lines(context, self, d, row, line, outputs, &dtype, 4);
}

template <bool kLog>
void softmax_kernel(Context& context, const Tensor& self, Size dim, bool, Tensor& out) {
  if constexpr (kLog) {
    run_softmax(context, self, dim, log_softmax_floats, softmax_doubles<true>,
                "log_softmax_lastdim_kernel_impl", out);
  } else {
    run_softmax(context, self, dim, softmax_floats, softmax_doubles<false>, "softmax_lastdim_kernel_impl",
                out);
  }
}

template <typename N>
Info<N> softmax_int_shape(const Info<N>& self, Size dim, std::optional<DType> dtype) {
  return softmax_info(self, dim, dtype.value_or(self.dtype));
}
template <bool kLog>
void softmax_int_kernel(Context& context, const Tensor& self, Size dim, std::optional<DType>, Tensor& out) {
  if (self.dtype() == out.dtype()) return softmax_kernel<kLog>(context, self, dim, false, out);
  Tensor converted = context.allocate(out.dtype(), self.sizes());
  copy_into(context, self, converted);
  softmax_kernel<kLog>(context, converted, dim, false, out);
}
void safe_softmax_kernel(Context& context, const Tensor& self, Size dim, std::optional<DType>, Tensor& out) {
  Tensor converted = self;
  if (self.dtype() != out.dtype()) {
    converted = context.allocate(out.dtype(), self.sizes());
    copy_into(context, self, converted);
  }
  run_softmax(context, converted, dim, safe_softmax_floats, safe_softmax_doubles,
              "softmax_lastdim_kernel_impl", out);
}

// ---- as other operators
template <bool kLog>
Tensor softmax_parts(Context& c, const Tensor& self, Size dim, std::optional<DType> dtype) {
  Tensor input = self;
  if (dtype && *dtype != self.dtype()) {
    input = call_with(c, "aten::_to_copy", {input},
                      {{"dtype", *dtype}, {"layout", Layout::kStrided}, {"device", input.device()}});
  }
  return call(c, kLog ? "aten::_log_softmax" : "aten::_softmax", input, dim, false);
}
Tensor safe_softmax_parts(Context& c, const Tensor& self, Size dim, std::optional<DType> dtype) {
  const Tensor result = call(c, "aten::softmax.int", self, dim, dtype);
  const Tensor is_masked = call(c, "aten::eq.Scalar", self, -std::numeric_limits<double>::infinity());
  const Tensor is_empty = call(c, "aten::all.dim", is_masked, dim, true);
  return parts::where(c, is_empty, call(c, "aten::zeros_like", result), result);
}

}  // namespace

void define_softmax(Library& library) {
  library.define("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor")
      .shape<softmax_shape<Size>, softmax_shape<SymInt>>()
      .kernel<softmax_kernel<false>>();
  library.define("aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor")
      .shape<softmax_shape<Size>, softmax_shape<SymInt>>()
      .kernel<softmax_kernel<true>>();
  for (const char* const schema :
       {"aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
        "aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"}) {
    library.define(schema)
        .shape<softmax_int_shape<Size>, softmax_int_shape<SymInt>>()
        .kernel<softmax_int_kernel<false>>()
        .composite<softmax_parts<false>>();
  }
  for (const char* const schema :
       {"aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
        "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"}) {
    library.define(schema)
        .shape<softmax_int_shape<Size>, softmax_int_shape<SymInt>>()
        .kernel<softmax_int_kernel<true>>()
        .composite<softmax_parts<true>>();
  }
  library.define("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
      .shape<softmax_int_shape<Size>, softmax_int_shape<SymInt>>()
      .kernel<safe_softmax_kernel>()
      .core_decomposition<safe_softmax_parts>();
}

}  // namespace flambeau::ops
