// The logarithm of summed exponentials.
#include <cmath>
#include <limits>

#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/norm/row_loops.h"
#include "flambeau/ops/reduce/fold_loops.h"

namespace flambeau::ops {
namespace {

struct LogSum {
  double most;
  double sum;
};
struct LogSumOp {
  template <typename T>
  using State = LogSum;
  template <typename T>
  LogSum start() const {
    return {-std::numeric_limits<double>::infinity(), 0};
  }
  template <typename T>
  void add(LogSum& state, T x, int64_t) const {
    merge<T>(state, {static_cast<double>(x), 1});
  }
  template <typename T>
  void merge(LogSum& state, const LogSum& other) const {
    if (is_nan(other.most) || is_nan(state.most)) {
      state = {NAN, NAN};
    } else if (other.most > state.most) {
      state = {other.most, other.sum + (state.sum == 0 ? 0 : state.sum * std::exp(state.most - other.most))};
    } else if (other.sum != 0) {
      state.sum += other.most == state.most ? other.sum : other.sum * std::exp(other.most - state.most);
    }
  }
  template <typename T>
  void finish(const LogSum& state, int64_t, void* const* outputs, size_t i) const {
    // Infinities of either sign stand for themselves.
    static_cast<double*>(outputs[0])[i] =
        std::isinf(state.most) ? state.most : state.most + std::log(state.sum);
  }
};
void log_sum_along(void* state, const void* row, size_t count, int64_t, const void*) {
  static const auto most_of = FLAMBEAU_PICK(max_row);
  static const auto sum_of = FLAMBEAU_PICK(exp_sum_row);
  const auto* const x = static_cast<const float*>(row);
  const float most = most_of(x, count);
  const float sum = std::isinf(most) ? 1 : sum_of(x, count, most);
  LogSumOp().merge<float>(*static_cast<LogSum*>(state),
                          {static_cast<double>(most), static_cast<double>(sum)});
}

template <typename N>
Info<N> logsumexp_shape(const Info<N>& self, std::span<const Size> dims, bool keep) {
  return reduced_info(int_to_float(self.dtype), self, reduced_dims(dims, self.dim()), keep);
}
void logsumexp_kernel(Context& context, const Tensor& self, std::span<const Size> dims, bool keep,
                      Tensor& out) {
  if (is_complex(self.dtype())) {
    Context inner = context.without_interceptor();
    if (self.element_count() == 0) {
      const Tensor sum = call(inner, "aten::sum.dim_IntList", self, dims, keep);
      return copy_into(context, call(inner, "aten::log", sum), out);
    }
    // By the largest real part, where it is finite.
    Tensor most = call(inner, "aten::amax", call(inner, "aten::real", self), dims, true);
    const Tensor is_infinite = call(inner, "aten::isinf", most);
    most = call(inner, "aten::masked_fill.Scalar", most, is_infinite, 0);
    const Tensor powers = call(inner, "aten::exp", call(inner, "aten::sub.Tensor", self, most));
    const Tensor sum = call(inner, "aten::log", call(inner, "aten::sum.dim_IntList", powers, dims, true));
    const Tensor result = call(inner, "aten::add.Tensor", sum, most);
    return copy_into(context, result.with_geometry({out.sizes(), out.strides(), 0}), out);
  }
  const LogSumOp op;
  const bool is_double = out.dtype() == DType::kFloat64;
  Fold fold = is_double ? FoldOf<LogSumOp, double>::make(DType::kFloat64)
                        : FoldOf<LogSumOp, float>::make(DType::kFloat32);
  if (!is_double) fold.along = log_sum_along;
  const Output outputs[] = {{&out, DType::kFloat64}};
  run_fold(context, self, fold.row == DType::kFloat32 ? out.dtype() : fold.row,
           reduced_dims(dims, self.dim()), fold, outputs, &op);
}

Tensor logsumexp_parts(Context& c, const Tensor& self, std::span<const Size> dims, bool keep) {
  const Tensor most = call(c, "aten::amax", self, dims, true);
  const Tensor is_infinite =
      call(c, "aten::eq.Scalar", call(c, "aten::abs", most), std::numeric_limits<double>::infinity());
  const Tensor safe = parts::where(c, is_infinite, parts::scalar(c, 0.0, self), most);
  const Tensor shift = keep ? safe : call(c, "aten::squeeze.dims", safe, dims);
  const Tensor powers = call(c, "aten::exp", parts::sub(c, self, safe));
  const Tensor sum = call(c, "aten::sum.dim_IntList", powers, dims, keep);
  return parts::add(c, call(c, "aten::log", sum), shift);
}

}  // namespace

void define_logsumexp(Library& library) {
  library.define("aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor")
      .shape<logsumexp_shape<Size>, logsumexp_shape<SymInt>>()
      .kernel<logsumexp_kernel>()
      .core_decomposition<logsumexp_parts>()
      .work<reduction_work>();
  library.define("aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor")
      .shape<logsumexp_shape<Size>, logsumexp_shape<SymInt>>()
      .kernel<logsumexp_kernel>()
      .alias("aten::logsumexp")
      .work<reduction_work>();
}

}  // namespace flambeau::ops
