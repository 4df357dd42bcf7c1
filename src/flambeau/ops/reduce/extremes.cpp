// Largest and smallest elements, and where they are. NaN is larger than everything and smaller than
// everything; of equal elements the first counts.
#include <fmt/format.h>
#include <array>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/reduce/fold_loops.h"

namespace flambeau::ops {
namespace {

template <typename T, bool kLargest>
bool beats(T x, T best) {
  if constexpr (kIsComplex<T>) {
    return false;
  } else {
    return (kLargest ? x > best : x < best) || (is_nan(x) && !is_nan(best));
  }
}
// What every number beats, or equals.
template <typename T, bool kLargest>
T worst() {
  if constexpr (kIsComplex<T>) {
    return {};
  } else if constexpr (std::numeric_limits<T>::has_infinity) {
    return kLargest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  } else {
    return kLargest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }
}

template <bool kLargest>
struct ExtremeOp {
  template <typename T>
  using State = T;
  template <typename T>
  T start() const {
    return worst<T, kLargest>();
  }
  template <typename T>
  void add(T& state, T x, int64_t) const {
    if (beats<T, kLargest>(x, state)) state = x;
  }
  template <typename T>
  void merge(T& state, const T& other) const {
    add<T>(state, other, 0);
  }
  template <typename T>
  void finish(const T& state, int64_t, void* const* outputs, size_t i) const {
    static_cast<T*>(outputs[0])[i] = state;
  }
};

void max_along(void* state, const void* row, size_t count, int64_t, const void*) {
  static const auto most = FLAMBEAU_PICK(max_row);
  ExtremeOp<true>().merge<float>(*static_cast<float*>(state), most(static_cast<const float*>(row), count));
}
void max_across(void* states, const void* rows, int64_t stride, size_t row_count, size_t columns, int64_t,
                const void*) {
  static const auto most = FLAMBEAU_PICK(max_rows);
  most(static_cast<float*>(states), static_cast<const float*>(rows), stride, row_count, columns);
}
void min_along(void* state, const void* row, size_t count, int64_t, const void*) {
  static const auto least = FLAMBEAU_PICK(min_row);
  ExtremeOp<false>().merge<float>(*static_cast<float*>(state), least(static_cast<const float*>(row), count));
}
void min_across(void* states, const void* rows, int64_t stride, size_t row_count, size_t columns, int64_t,
                const void*) {
  static const auto least = FLAMBEAU_PICK(min_rows);
  least(static_cast<float*>(states), static_cast<const float*>(rows), stride, row_count, columns);
}

template <bool kLargest>
void run_extreme(Context& context, const Tensor& self, const DimFlags& reduced, std::string_view name,
                 Tensor& out) {
  if (is_complex(self.dtype())) fail_dtype(name, self.dtype());
  const ExtremeOp<kLargest> op;
  Fold fold = fold_of<ExtremeOp<kLargest>>(self.dtype());
  if (fold.row == DType::kFloat32) {
    fold.along = kLargest ? max_along : min_along;
    fold.across = kLargest ? max_across : min_across;
  }
  const Output outputs[] = {computed_result(out)};
  run_fold(context, self, self.dtype(), reduced, fold, outputs, &op);
}

template <typename T>
struct Found {
  T value;
  int64_t position;
};

// Writes the position alone where there is one output, else value and position.
template <bool kLargest, bool kValue>
struct FindOp {
  template <typename T>
  using State = Found<T>;
  template <typename T>
  Found<T> start() const {
    return {worst<T, kLargest>(), -1};
  }
  template <typename T>
  void add(Found<T>& state, T x, int64_t position) const {
    if (beats<T, kLargest>(x, state.value) || state.position < 0) state = {x, position};
  }
  template <typename T>
  void merge(Found<T>& state, const Found<T>& other) const {
    if (other.position < 0) return;
    const bool is_same = other.value == state.value || (is_nan(other.value) && is_nan(state.value));
    if (state.position < 0 || beats<T, kLargest>(other.value, state.value) ||
        (is_same && other.position < state.position)) {
      state = other;
    }
  }
  template <typename T>
  void finish(const Found<T>& state, int64_t, void* const* outputs, size_t i) const {
    if constexpr (kValue) static_cast<T*>(outputs[0])[i] = state.value;
    static_cast<int64_t*>(outputs[kValue ? 1 : 0])[i] = state.position;
  }
};

// Found in two quick passes rather than a slow one.
template <bool kLargest, bool kValue>
void find_along(void* state, const void* row, size_t count, int64_t first, const void*) {
  static const auto best_of = kLargest ? FLAMBEAU_PICK(max_row) : FLAMBEAU_PICK(min_row);
  static const auto find = FLAMBEAU_PICK(find_row);
  const auto* const x = static_cast<const float*>(row);
  const float best = best_of(x, count);
  const size_t at = find(x, count, best);
  FindOp<kLargest, kValue>().template merge<float>(*static_cast<Found<float>*>(state),
                                                   {best, first + static_cast<int64_t>(at)});
}
template <bool kLargest, bool kValue>
Fold find_fold(DType dtype) {
  Fold fold = fold_of<FindOp<kLargest, kValue>>(dtype);
  if (fold.row == DType::kFloat32) fold.along = find_along<kLargest, kValue>;
  return fold;
}

template <typename N>
void require_elements(const Info<N>& self, const DimFlags& reduced, bool is_all, std::string_view name) {
  if (!(self.element_count() == N(0))) return;
  if (is_all) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                    "reduction dim with the 'dim' argument.",
                    name));
  }
  for (size_t d = 0; d < self.dim(); ++d) {
    if (reduced[d] && self.sizes[d] == N(0)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}(): Expected reduction dim {} to have non-zero size.", name, d));
    }
  }
}

// ---- amax, amin, max(), min(), aminmax
template <typename N, bool kLargest>
Info<N> amax_shape(const Info<N>& self, std::span<const Size> dims, bool keep) {
  const DimFlags reduced = reduced_dims(dims, self.dim());
  require_elements(self, reduced, dims.empty(), kLargest ? "amax" : "amin");
  return reduced_info(self.dtype, self, reduced, keep);
}
template <bool kLargest>
void amax_kernel(Context& context, const Tensor& self, std::span<const Size> dims, bool, Tensor& out) {
  run_extreme<kLargest>(context, self, reduced_dims(dims, self.dim()), kLargest ? "amax" : "amin", out);
}
template <typename N, bool kLargest>
Info<N> max_all_shape(const Info<N>& self) {
  require_elements(self, all_dims(self.dim()), true, kLargest ? "max" : "min");
  return reduced_info(self.dtype, self, all_dims(self.dim()), false);
}
template <bool kLargest>
void max_all_kernel(Context& context, const Tensor& self, Tensor& out) {
  run_extreme<kLargest>(context, self, all_dims(self.dim()), kLargest ? "max" : "min", out);
}
template <typename N>
std::tuple<Info<N>, Info<N>> aminmax_shape(const Info<N>& self, std::optional<Size> dim, bool keep) {
  const DimFlags reduced = dim ? reduced_dims(std::array{*dim}, self.dim()) : all_dims(self.dim());
  require_elements(self, reduced, !dim, "aminmax");
  const Info<N> info = reduced_info(self.dtype, self, reduced, keep);
  return {info, info};
}
void aminmax_kernel(Context& context, const Tensor& self, std::optional<Size> dim, bool, Tensor& least,
                    Tensor& most) {
  const DimFlags reduced = dim ? one_dim(*dim, self.dim()) : all_dims(self.dim());
  run_extreme<false>(context, self, reduced, "aminmax", least);
  run_extreme<true>(context, self, reduced, "aminmax", most);
}

// ---- max.dim, min.dim: values and indices
template <typename N, bool kLargest>
std::tuple<Info<N>, Info<N>> max_dim_shape(const Info<N>& self, Size dim, bool keep) {
  const DimFlags reduced = one_dim(dim, self.dim());
  require_elements(self, reduced, false, kLargest ? "max" : "min");
  return {reduced_info(self.dtype, self, reduced, keep), reduced_info(DType::kInt64, self, reduced, keep)};
}
template <bool kLargest>
void max_dim_kernel(Context& context, const Tensor& self, Size dim, bool, Tensor& values, Tensor& indices) {
  if (is_complex(self.dtype())) fail_dtype(kLargest ? "max" : "min", self.dtype());
  const FindOp<kLargest, true> op;
  const Output outputs[] = {computed_result(values), {&indices, DType::kInt64}};
  run_fold(context, self, self.dtype(), one_dim(dim, self.dim()), find_fold<kLargest, true>(self.dtype()),
           outputs, &op);
}

// ---- argmax, argmin
template <typename N, bool kLargest>
Info<N> argmax_shape(const Info<N>& self, std::optional<Size> dim, bool keep) {
  const DimFlags reduced = dim ? one_dim(*dim, self.dim()) : all_dims(self.dim());
  require_elements(self, reduced, !dim, kLargest ? "argmax" : "argmin");
  return reduced_info(DType::kInt64, self, reduced, keep);
}
template <bool kLargest>
void argmax_kernel(Context& context, const Tensor& self, std::optional<Size> dim, bool, Tensor& out) {
  if (is_complex(self.dtype()) || self.dtype() == DType::kBool) {
    fail_dtype(kLargest ? "argmax_cpu" : "argmin_cpu", self.dtype());
  }
  const FindOp<kLargest, false> op;
  const Output outputs[] = {{&out, DType::kInt64}};
  const Fold fold = find_fold<kLargest, false>(self.dtype());
  // Positions among all elements are those of a row-major tensor.
  run_fold(context, dim ? self : self.to_contiguous(), self.dtype(),
           dim ? one_dim(*dim, self.dim()) : all_dims(self.dim()), fold, outputs, &op);
}

template <bool kLargest>
void define_extreme(Library& library, const char* amax, const char* max, const char* max_dim,
                    const char* argmax) {
  library.define(amax)
      .template shape<amax_shape<Size, kLargest>, amax_shape<SymInt, kLargest>>()
      .template kernel<amax_kernel<kLargest>>()
      .template work<reduction_work>();
  library.define(max)
      .template shape<max_all_shape<Size, kLargest>, max_all_shape<SymInt, kLargest>>()
      .template kernel<max_all_kernel<kLargest>>();
  library.define(max_dim)
      .template shape<max_dim_shape<Size, kLargest>, max_dim_shape<SymInt, kLargest>>()
      .template kernel<max_dim_kernel<kLargest>>();
  library.define(argmax)
      .template shape<argmax_shape<Size, kLargest>, argmax_shape<SymInt, kLargest>>()
      .template kernel<argmax_kernel<kLargest>>();
}

std::tuple<Tensor, Tensor> aminmax_all(Context& context, const Tensor& self) {
  return call<std::tuple<Tensor, Tensor>>(context, "aten::aminmax", self);
}
std::tuple<Tensor, Tensor> aminmax_dim(Context& context, const Tensor& self, Size dim, bool keep) {
  return call_with<std::tuple<Tensor, Tensor>>(context, "aten::aminmax", {self},
                                               {{"dim", dim}, {"keepdim", keep}});
}

}  // namespace

void define_extremes(Library& library) {
  define_extreme<true>(
      library, "aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
      "aten::max(Tensor self) -> Tensor",
      "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor");
  define_extreme<false>(
      library, "aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
      "aten::min(Tensor self) -> Tensor",
      "aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor");
  library
      .define("aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)")
      .shape<aminmax_shape<Size>, aminmax_shape<SymInt>>()
      .kernel<aminmax_kernel>()
      .is(Trait::kExactOut);
  library.define("aten::_aminmax(Tensor self) -> (Tensor, Tensor)").decomposition<aminmax_all>();
  library.define("aten::_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)")
      .decomposition<aminmax_dim>();
}

}  // namespace flambeau::ops
