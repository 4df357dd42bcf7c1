// Sums, means and products over dimensions.
#include <algorithm>

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

// float is summed up in double, see fold_loops.
template <typename T>
using Wider =
    std::conditional_t<std::is_same_v<T, float>, double,
                       std::conditional_t<std::is_same_v<T, std::complex<float>>, std::complex<double>, T>>;

struct SumOp {
  template <typename T>
  using State = Wider<T>;
  bool is_mean = false;
  bool skips_nan = false;
  template <typename T>
  State<T> start() const {
    return {};
  }
  template <typename T>
  void add(State<T>& state, T x, int64_t) const {
    if (skips_nan && is_nan(x)) return;
    state = wrapping_add(state, State<T>(x));
  }
  template <typename T>
  void merge(State<T>& state, const State<T>& other) const {
    state = wrapping_add(state, other);
  }
  template <typename T>
  void finish(const State<T>& state, int64_t reduced, void* const* outputs, size_t i) const {
    T* const out = static_cast<T*>(outputs[0]);
    if constexpr (std::is_integral_v<T>) {
      out[i] = state;
    } else if (is_mean) {
      using Part = decltype(std::abs(state));
      out[i] = static_cast<T>(state / static_cast<Part>(reduced));
    } else {
      out[i] = static_cast<T>(state);
    }
  }
};

void sum_along(void* state, const void* row, size_t count, int64_t, const void*) {
  static const auto sum = FLAMBEAU_PICK(sum_row);
  *static_cast<double*>(state) += sum(static_cast<const float*>(row), count);
}
void sum_along_rows(void* states, const void* rows, int64_t stride, size_t row_count, size_t count,
                    const void*) {
  static const auto sum = FLAMBEAU_PICK(sum_each_row);
  sum(static_cast<double*>(states), static_cast<const float*>(rows), stride, row_count, count);
}
void sum_across(void* states, const void* rows, int64_t stride, size_t row_count, size_t columns, int64_t,
                const void*) {
  static const auto sum = FLAMBEAU_PICK(sum_rows);
  sum(static_cast<double*>(states), static_cast<const float*>(rows), stride, row_count, columns);
}
void sum_along_double(void* state, const void* row, size_t count, int64_t, const void*) {
  static const auto sum = FLAMBEAU_PICK(sum_row_double);
  *static_cast<double*>(state) += sum(static_cast<const double*>(row), count);
}
void sum_across_double(void* states, const void* rows, int64_t stride, size_t row_count, size_t columns,
                       int64_t, const void*) {
  static const auto sum = FLAMBEAU_PICK(sum_rows_double);
  sum(static_cast<double*>(states), static_cast<const double*>(rows), stride, row_count, columns);
}

void run_sum(Context& context, const Tensor& self, const DimFlags& reduced, const SumOp& op, Tensor& out) {
  const DType common = out.dtype();
  Fold fold = fold_of<SumOp>(common);
  if (!op.skips_nan) {
    if (fold.row == DType::kFloat32) {
      fold.along = sum_along;
      fold.along_rows = sum_along_rows;
      fold.across = sum_across;
    } else if (fold.row == DType::kFloat64) {
      fold.along = sum_along_double;
      fold.across = sum_across_double;
    }
  }
  const Output outputs[] = {computed_result(out)};
  run_fold(context, self, common, reduced, fold, outputs, &op);
}

DType sum_dtype(DType self, std::optional<DType> dtype) {
  return dtype.value_or(is_integral(self) ? DType::kInt64 : self);
}

std::span<const Size> list_of(const OptionalDims& dims) { return dims.value_or(std::span<const Size>()); }

template <typename N>
Info<N> sum_shape(const Info<N>& self, std::optional<DType> dtype) {
  return reduced_info(sum_dtype(self.dtype, dtype), self, all_dims(self.dim()), false);
}
void sum_kernel(Context& context, const Tensor& self, std::optional<DType>, Tensor& out) {
  run_sum(context, self, all_dims(self.dim()), SumOp{}, out);
}
template <typename N>
Info<N> sum_dim_shape(const Info<N>& self, OptionalDims dims, bool keep, std::optional<DType> dtype) {
  return reduced_info(sum_dtype(self.dtype, dtype), self, reduced_dims(list_of(dims), self.dim()), keep);
}
void sum_dim_kernel(Context& context, const Tensor& self, OptionalDims dims, bool, std::optional<DType>,
                    Tensor& out) {
  run_sum(context, self, reduced_dims(list_of(dims), self.dim()), SumOp{}, out);
}
void nansum_kernel(Context& context, const Tensor& self, OptionalDims dims, bool, std::optional<DType>,
                   Tensor& out) {
  if (is_complex(self.dtype())) fail_dtype("nansum", self.dtype());
  run_sum(context, self, reduced_dims(list_of(dims), self.dim()), SumOp{.skips_nan = true}, out);
}

DType mean_dtype(DType self, std::optional<DType> dtype) {
  const DType result = dtype.value_or(self);
  if (!is_floating(result) && !is_complex(result)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("mean(): could not infer output dtype. ") + (dtype ? "Optional dtype" : "Input dtype") +
            " must be either a floating point or complex dtype. Got: " + std::string(dtype_word(result)));
  }
  return result;
}
template <typename N>
Info<N> mean_shape(const Info<N>& self, std::optional<DType> dtype) {
  return reduced_info(mean_dtype(self.dtype, dtype), self, all_dims(self.dim()), false);
}
void mean_kernel(Context& context, const Tensor& self, std::optional<DType>, Tensor& out) {
  run_sum(context, self, all_dims(self.dim()), SumOp{.is_mean = true}, out);
}
template <typename N>
Info<N> mean_dim_shape(const Info<N>& self, OptionalDims dims, bool keep, std::optional<DType> dtype) {
  return reduced_info(mean_dtype(self.dtype, dtype), self, reduced_dims(list_of(dims), self.dim()), keep);
}
void mean_dim_kernel(Context& context, const Tensor& self, OptionalDims dims, bool, std::optional<DType>,
                     Tensor& out) {
  run_sum(context, self, reduced_dims(list_of(dims), self.dim()), SumOp{.is_mean = true}, out);
}

struct ProductOp {
  template <typename T>
  using State = T;
  template <typename T>
  T start() const {
    return T(1);
  }
  template <typename T>
  void add(T& state, T x, int64_t) const {
    state = wrapping_multiply(state, x);
  }
  template <typename T>
  void merge(T& state, const T& other) const {
    state = wrapping_multiply(state, other);
  }
  template <typename T>
  void finish(const T& state, int64_t, void* const* outputs, size_t i) const {
    static_cast<T*>(outputs[0])[i] = state;
  }
};

void multiply_along(void* state, const void* row, size_t count, int64_t, const void*) {
  static const auto product = FLAMBEAU_PICK(product_row);
  *static_cast<float*>(state) *= product(static_cast<const float*>(row), count);
}
void multiply_along_double(void* state, const void* row, size_t count, int64_t, const void*) {
  static const auto product = FLAMBEAU_PICK(product_row_double);
  *static_cast<double*>(state) *= product(static_cast<const double*>(row), count);
}

void run_product(Context& context, const Tensor& self, const DimFlags& reduced, Tensor& out) {
  const ProductOp op;
  Fold fold = fold_of<ProductOp>(out.dtype());
  if (fold.row == DType::kFloat32) fold.along = multiply_along;
  if (fold.row == DType::kFloat64) fold.along = multiply_along_double;
  const Output outputs[] = {computed_result(out)};
  run_fold(context, self, out.dtype(), reduced, fold, outputs, &op);
}
void prod_kernel(Context& context, const Tensor& self, std::optional<DType>, Tensor& out) {
  run_product(context, self, all_dims(self.dim()), out);
}
template <typename N>
Info<N> prod_dim_shape(const Info<N>& self, Size dim, bool keep, std::optional<DType> dtype) {
  return reduced_info(sum_dtype(self.dtype, dtype), self, one_dim(dim, self.dim()), keep);
}
void prod_dim_kernel(Context& context, const Tensor& self, Size dim, bool, std::optional<DType>,
                     Tensor& out) {
  run_product(context, self, one_dim(dim, self.dim()), out);
}

// The sum of what is a number over the count of it.
Tensor nanmean(Context& context, const Tensor& self, OptionalDims dims, bool keep,
               std::optional<DType> dtype) {
  if (is_integral(self.dtype())) {
    throw Error(ErrorCode::kInvalidArgument,
                "nanmean(): expected input to have floating point or complex dtype but got " +
                    std::string(dtype_name(self.dtype())));
  }
  const Value list = dims ? Value(Dims(*dims)) : Value();
  const Tensor numbers = call(context, "aten::logical_not", call(context, "aten::isnan", self));
  const Tensor count = call(context, "aten::sum.dim_IntList", numbers, list, keep);
  const Tensor sum =
      call_with(context, "aten::nansum", {self, list, keep}, {{"dtype", dtype ? Value(*dtype) : Value()}});
  return call(context, "aten::div.Tensor", sum, count);
}

struct CountOp {
  template <typename T>
  using State = int64_t;
  template <typename T>
  int64_t start() const {
    return 0;
  }
  template <typename T>
  void add(int64_t& state, T x, int64_t) const {
    state += x != T(0) ? 1 : 0;
  }
  template <typename T>
  void merge(int64_t& state, const int64_t& other) const {
    state += other;
  }
  template <typename T>
  void finish(const int64_t& state, int64_t, void* const* outputs, size_t i) const {
    static_cast<int64_t*>(outputs[0])[i] = state;
  }
};
template <typename N>
Info<N> count_nonzero_shape(const Info<N>& self, std::span<const Size> dims) {
  return reduced_info(DType::kInt64, self, reduced_dims(dims, self.dim()), false);
}
void count_nonzero_kernel(Context& context, const Tensor& self, std::span<const Size> dims, Tensor& out) {
  const CountOp op;
  const Output outputs[] = {{&out, DType::kInt64}};
  run_fold(context, self, self.dtype(), reduced_dims(dims, self.dim()), fold_of<CountOp>(self.dtype()),
           outputs, &op);
}
Tensor count_nonzero_parts(Context& c, const Tensor& self, const Value& dims) {
  return call(c, "aten::sum.dim_IntList", call(c, "aten::ne.Scalar", self, 0), dims);
}
Tensor count_nonzero(Context& c, const Tensor& self, std::optional<Size> dim) {
  return count_nonzero_parts(c, self, dim ? Value(Dims{*dim}) : Value());
}
Tensor sum_parts(Context& c, const Tensor& self, std::optional<DType> dtype) {
  return call_with(c, "aten::sum.dim_IntList", {self, Dims{}}, {{"dtype", dtype}});
}

Tensor nansum_parts(Context& c, const Tensor& self, const Value& dims, bool keep,
                    std::optional<DType> dtype) {
  const Tensor is_nan = call(c, "aten::isnan", self);
  const Tensor numbers = parts::where(c, is_nan, parts::scalar(c, 0, self), self);
  return call_with(c, "aten::sum.dim_IntList", {numbers, dims, keep}, {{"dtype", dtype}});
}

}  // namespace

void define_sum(Library& library) {
  library.define("aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor")
      .shape<sum_shape<Size>, sum_shape<SymInt>>()
      .kernel<sum_kernel>()
      .core_decomposition<sum_parts>()
      .work<reduction_work>();
  library
      .define(
          "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> "
          "Tensor")
      .shape<sum_dim_shape<Size>, sum_dim_shape<SymInt>>()
      .kernel<sum_dim_kernel>()
      .work<reduction_work>();
  library
      .define(
          "aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
          "Tensor")
      .shape<sum_dim_shape<Size>, sum_dim_shape<SymInt>>()
      .kernel<nansum_kernel>()
      .core_decomposition<nansum_parts>();
  library.define("aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor")
      .shape<mean_shape<Size>, mean_shape<SymInt>>()
      .kernel<mean_kernel>()
      .is(Trait::kAnyLayout)
      .work<reduction_work>();
  library
      .define(
          "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
      .shape<mean_dim_shape<Size>, mean_dim_shape<SymInt>>()
      .kernel<mean_dim_kernel>()
      .is(Trait::kAnyLayout)
      .work<reduction_work>();
  library
      .define(
          "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
          "Tensor")
      .composite<nanmean>();
  library.define("aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor")
      .shape<sum_shape<Size>, sum_shape<SymInt>>()
      .kernel<prod_kernel>()
      .work<reduction_work>();
  library
      .define(
          "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
      .shape<prod_dim_shape<Size>, prod_dim_shape<SymInt>>()
      .kernel<prod_dim_kernel>()
      .work<reduction_work>();
  library.define("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor")
      .shape<count_nonzero_shape<Size>, count_nonzero_shape<SymInt>>()
      .kernel<count_nonzero_kernel>()
      .core_decomposition<count_nonzero_parts>();
  library.define("aten::count_nonzero(Tensor self, int? dim=None) -> Tensor")
      .core_decomposition<count_nonzero>();
}

}  // namespace flambeau::ops
