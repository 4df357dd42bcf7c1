// Norms of vectors over any dimensions, and what is made of them.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/reduce/fold_loops.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {
namespace {

using OptionalDims = std::optional<std::span<const Size>>;

enum class Order : uint8_t { kZero, kOne, kTwo, kMost, kLeast, kAny };

template <Order kOrder>
struct NormOp {
  double order = 2;
  template <typename T>
  using State = double;
  template <typename T>
  double start() const {
    return kOrder == Order::kLeast ? std::numeric_limits<double>::infinity() : 0;
  }
  template <typename T>
  void add(double& state, T x, int64_t) const {
    if constexpr (kOrder == Order::kTwo && kIsComplex<T>) {
      state += static_cast<double>(x.real()) * static_cast<double>(x.real()) +
               static_cast<double>(x.imag()) * static_cast<double>(x.imag());
    } else {
      put(state, static_cast<double>(std::abs(x)));
    }
  }
  void put(double& state, double size) const {
    switch (kOrder) {
      case Order::kZero:
        state += size != 0 ? 1 : 0;
        break;
      case Order::kOne:
        state += size;
        break;
      case Order::kTwo:
        state += size * size;
        break;
      case Order::kMost:
        state = size > state || is_nan(size) ? size : state;
        break;
      case Order::kLeast:
        state = size < state || is_nan(size) ? size : state;
        break;
      case Order::kAny:
        state += std::pow(size, order);
        break;
    }
  }
  template <typename T>
  void merge(double& state, const double& other) const {
    if constexpr (kOrder == Order::kMost) {
      state = other > state || is_nan(other) ? other : state;
    } else if constexpr (kOrder == Order::kLeast) {
      state = other < state || is_nan(other) ? other : state;
    } else {
      state += other;
    }
  }
  template <typename T>
  void finish(const double& state, int64_t, void* const* outputs, size_t i) const {
    static_cast<double*>(outputs[0])[i] = kOrder == Order::kTwo   ? std::sqrt(state)
                                          : kOrder == Order::kAny ? std::pow(state, 1 / order)
                                                                  : state;
  }
};

void squares_along(void* state, const void* row, size_t count, int64_t, const void*) {
  static const auto sum = FLAMBEAU_PICK(sum_squares_row);
  *static_cast<double*>(state) += sum(static_cast<const float*>(row), count);
}

template <Order kOrder>
void run_order(Context& context, const Tensor& self, DType common, const DimFlags& reduced, double order,
               Tensor& out) {
  const NormOp<kOrder> op{order};
  const auto make = [&]() -> Fold {
    switch (compute_type(common)) {
      case Compute::kFloat:
        return FoldOf<NormOp<kOrder>, float>::make(DType::kFloat32);
      case Compute::kDouble:
        return FoldOf<NormOp<kOrder>, double>::make(DType::kFloat64);
      case Compute::kComplexFloat:
        return FoldOf<NormOp<kOrder>, std::complex<float>>::make(DType::kComplex64);
      default:
        return FoldOf<NormOp<kOrder>, std::complex<double>>::make(DType::kComplex128);
    }
  };
  Fold fold = make();
  if (kOrder == Order::kTwo && fold.row == DType::kFloat32) fold.along = squares_along;
  const Output outputs[] = {{&out, DType::kFloat64}};
  run_fold(context, self, common, reduced, fold, outputs, &op);
}

void run_norm(Context& context, const Tensor& self, DType common, const DimFlags& reduced, double order,
              Tensor& out) {
  if (order == 0) return run_order<Order::kZero>(context, self, common, reduced, order, out);
  if (order == 1) return run_order<Order::kOne>(context, self, common, reduced, order, out);
  if (order == 2) return run_order<Order::kTwo>(context, self, common, reduced, order, out);
  if (std::isinf(order)) {
    return order > 0 ? run_order<Order::kMost>(context, self, common, reduced, order, out)
                     : run_order<Order::kLeast>(context, self, common, reduced, order, out);
  }
  run_order<Order::kAny>(context, self, common, reduced, order, out);
}

DType norm_common(DType self, std::optional<DType> dtype, const char* name) {
  const DType common = dtype.value_or(self);
  if (is_integral(common)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: Expected a floating point or complex tensor as input. Got {}", name,
                            dtype_word(common)));
  }
  return common;
}
DType norm_result(DType common) { return is_complex(common) ? to_real(common) : common; }

DimFlags norm_dims(OptionalDims dims, size_t rank) {
  return dims ? reduced_dims(*dims, rank) : all_dims(rank);
}

template <typename N>
Info<N> norm_info(const Info<N>& self, double order, OptionalDims dims, bool keep, std::optional<DType> dtype,
                  const char* name) {
  const DimFlags reduced = norm_dims(dims, self.dim());
  if ((order < 0 || order == std::numeric_limits<double>::infinity()) && self.element_count() == N(0)) {
    for (size_t d = 0; d < self.dim(); ++d) {
      if (!reduced[d] || !(self.sizes[d] == N(0))) continue;
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} cannot compute the {} norm on an empty tensor because the operation does not "
                      "have an identity",
                      name, order));
    }
  }
  return reduced_info(norm_result(norm_common(self.dtype, dtype, name)), self, reduced, keep);
}

template <typename N>
Info<N> vector_norm_shape(const Info<N>& self, Scalar order, OptionalDims dims, bool keep,
                          std::optional<DType> dtype) {
  return norm_info(self, order.to_double(), dims, keep, dtype, "linalg.vector_norm");
}
void vector_norm_kernel(Context& context, const Tensor& self, Scalar order, OptionalDims dims, bool,
                        std::optional<DType> dtype, Tensor& out) {
  run_norm(context, self, dtype.value_or(self.dtype()), norm_dims(dims, self.dim()), order.to_double(), out);
}

// ---- norm: the same under its older names
double order_of(const std::optional<Scalar>& p) { return p ? p->to_double() : 2.0; }

template <typename N>
Info<N> norm_shape(const Info<N>& self, Scalar p) {
  return norm_info(self, p.to_double(), std::nullopt, false, std::nullopt, "norm()");
}
void norm_kernel(Context& context, const Tensor& self, Scalar p, Tensor& out) {
  run_norm(context, self, self.dtype(), all_dims(self.dim()), p.to_double(), out);
}
template <typename N>
Info<N> norm_dtype_shape(const Info<N>& self, std::optional<Scalar> p, DType dtype) {
  return norm_info(self, order_of(p), std::nullopt, false, dtype, "norm()");
}
void norm_dtype_kernel(Context& context, const Tensor& self, std::optional<Scalar> p, DType dtype,
                       Tensor& out) {
  run_norm(context, self, dtype, all_dims(self.dim()), order_of(p), out);
}
template <typename N>
Info<N> norm_dim_shape(const Info<N>& self, std::optional<Scalar> p, std::span<const Size> dims, bool keep) {
  return norm_info(self, order_of(p), dims, keep, std::nullopt, "norm()");
}
void norm_dim_kernel(Context& context, const Tensor& self, std::optional<Scalar> p,
                     std::span<const Size> dims, bool, Tensor& out) {
  run_norm(context, self, self.dtype(), reduced_dims(dims, self.dim()), order_of(p), out);
}
template <typename N>
Info<N> norm_dim_dtype_shape(const Info<N>& self, std::optional<Scalar> p, std::span<const Size> dims,
                             bool keep, DType dtype) {
  return norm_info(self, order_of(p), dims, keep, dtype, "norm()");
}
void norm_dim_dtype_kernel(Context& context, const Tensor& self, std::optional<Scalar> p,
                           std::span<const Size> dims, bool, DType dtype, Tensor& out) {
  run_norm(context, self, dtype, reduced_dims(dims, self.dim()), order_of(p), out);
}
Tensor frobenius_norm(Context& context, const Tensor& self, std::span<const Size> dims, bool keep) {
  return call(context, "aten::linalg_vector_norm", self, 2, dims, keep);
}
Tensor dist(Context& context, const Tensor& self, const Tensor& other, Scalar p) {
  return call(context, "aten::norm.Scalar", call(context, "aten::sub.Tensor", self, other), Value(p));
}

// ---- old names of the norm of vectors
Tensor norm_dim_dtype_parts(Context& c, const Tensor& self, std::optional<Scalar> p, const Value& dims,
                            bool keep, const Value& dtype) {
  return call_with(c, "aten::linalg_vector_norm", {self, p ? Value(*p) : Value(2), dims, keep},
                   {{"dtype", dtype}});
}
Tensor norm_dim_parts(Context& c, const Tensor& self, std::optional<Scalar> p, const Value& dims, bool keep) {
  return norm_dim_dtype_parts(c, self, p, dims, keep, Value());
}
Tensor norm_dtype_parts(Context& c, const Tensor& self, std::optional<Scalar> p, const Value& dtype) {
  return norm_dim_dtype_parts(c, self, p, Value(), false, dtype);
}
Tensor norm_parts(Context& c, const Tensor& self, Scalar p) {
  return norm_dim_dtype_parts(c, self, p, Value(), false, Value());
}

}  // namespace

void define_norms(Library& library) {
  library
      .define(
          "aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
          "ScalarType? dtype=None) -> Tensor")
      .shape<vector_norm_shape<Size>, vector_norm_shape<SymInt>>()
      .kernel<vector_norm_kernel>()
      .work<reduction_work>();
  library.define("aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor")
      .shape<norm_shape<Size>, norm_shape<SymInt>>()
      .kernel<norm_kernel>()
      .core_decomposition<norm_parts>()
      .work<reduction_work>();
  library.define("aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor")
      .shape<norm_dtype_shape<Size>, norm_dtype_shape<SymInt>>()
      .kernel<norm_dtype_kernel>()
      .core_decomposition<norm_dtype_parts>()
      .work<reduction_work>();
  library.define("aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor")
      .shape<norm_dim_shape<Size>, norm_dim_shape<SymInt>>()
      .kernel<norm_dim_kernel>()
      .core_decomposition<norm_dim_parts>()
      .work<reduction_work>();
  library
      .define(
          "aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType "
          "dtype) -> Tensor")
      .shape<norm_dim_dtype_shape<Size>, norm_dim_dtype_shape<SymInt>>()
      .kernel<norm_dim_dtype_kernel>()
      .core_decomposition<norm_dim_dtype_parts>()
      .work<reduction_work>();
  library.define("aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor")
      .composite<frobenius_norm>();
  library.define("aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor").decomposition<dist>();
}

}  // namespace flambeau::ops
