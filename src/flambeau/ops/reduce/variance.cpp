// Variance and standard deviation, with or without the mean.
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/reduce/fold_loops.h"

namespace flambeau::ops {
namespace {

using OptionalDims = std::optional<std::span<const Size>>;

void merge_moments(Moments& a, const Moments& b) {
  if (b.count == 0) return;
  const double count = a.count + b.count;
  const double delta = b.mean - a.mean;
  a.mean += delta * b.count / count;
  a.squares += b.squares + delta * delta * a.count * b.count / count;
  a.count = count;
}

// The parts of a complex number vary on their own; what adds up is the result.
struct ComplexMoments {
  Moments real;
  Moments imaginary;
};

template <bool kRoot, bool kMean>
struct VarianceOp {
  double correction = 1;
  template <typename T>
  using State = std::conditional_t<kIsComplex<T>, ComplexMoments, Moments>;

  template <typename T>
  State<T> start() const {
    return {};
  }
  static void add_one(Moments& state, double x) {
    state.count += 1;
    const double delta = x - state.mean;
    state.mean += delta / state.count;
    state.squares += delta * (x - state.mean);
  }
  template <typename T>
  void add(State<T>& state, T x, int64_t) const {
    if constexpr (kIsComplex<T>) {
      add_one(state.real, static_cast<double>(x.real()));
      add_one(state.imaginary, static_cast<double>(x.imag()));
    } else {
      add_one(state, static_cast<double>(x));
    }
  }
  template <typename T>
  void merge(State<T>& state, const State<T>& other) const {
    if constexpr (kIsComplex<T>) {
      merge_moments(state.real, other.real);
      merge_moments(state.imaginary, other.imaginary);
    } else {
      merge_moments(state, other);
    }
  }
  template <typename T>
  void finish(const State<T>& state, int64_t reduced, void* const* outputs, size_t i) const {
    const double divisor = std::max(0.0, static_cast<double>(reduced) - correction);
    if constexpr (kIsComplex<T>) {
      const double value = (state.real.squares + state.imaginary.squares) / divisor;
      using Part = typename T::value_type;
      static_cast<Part*>(outputs[0])[i] = static_cast<Part>(kRoot ? std::sqrt(value) : value);
      if constexpr (kMean)
        static_cast<T*>(outputs[1])[i] =
            reduced == 0 ? T(NAN)
                         : T(static_cast<Part>(state.real.mean), static_cast<Part>(state.imaginary.mean));
    } else {
      const double value = state.squares / divisor;
      static_cast<T*>(outputs[0])[i] = static_cast<T>(kRoot ? std::sqrt(value) : value);
      if constexpr (kMean) static_cast<T*>(outputs[1])[i] = static_cast<T>(reduced == 0 ? NAN : state.mean);
    }
  }
};

void moments_along(void* state, const void* row, size_t count, int64_t, const void*) {
  static const auto moments = FLAMBEAU_PICK(moments_row);
  merge_moments(*static_cast<Moments*>(state), moments(static_cast<const float*>(row), count));
}

template <bool kRoot, bool kMean>
void run_variance(Context& context, const Tensor& self, OptionalDims dims,
                  const std::optional<Scalar>& correction, std::span<const Output> outputs) {
  const VarianceOp<kRoot, kMean> op{correction ? correction->to_double() : 1.0};
  const DimFlags reduced = dims ? reduced_dims(*dims, self.dim()) : all_dims(self.dim());
  const DType common = self.dtype();
  Fold fold = compute_type(common) == Compute::kFloat
                  ? FoldOf<VarianceOp<kRoot, kMean>, float>::make(DType::kFloat32)
              : compute_type(common) == Compute::kDouble
                  ? FoldOf<VarianceOp<kRoot, kMean>, double>::make(DType::kFloat64)
              : compute_type(common) == Compute::kComplexFloat
                  ? FoldOf<VarianceOp<kRoot, kMean>, std::complex<float>>::make(DType::kComplex64)
                  : FoldOf<VarianceOp<kRoot, kMean>, std::complex<double>>::make(DType::kComplex128);
  if (fold.row == DType::kFloat32) fold.along = moments_along;
  run_fold(context, self, common, reduced, fold, outputs, &op);
}

template <typename N>
Info<N> variance_info(const Info<N>& self, OptionalDims dims, bool keep, bool is_mean, const char* name) {
  if (is_integral(self.dtype)) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string(name) + " only support floating point and complex dtypes");
  }
  const DimFlags reduced = dims ? reduced_dims(*dims, self.dim()) : all_dims(self.dim());
  const DType dtype = !is_mean && is_complex(self.dtype) ? to_real(self.dtype) : self.dtype;
  return reduced_info(dtype, self, reduced, keep);
}

template <typename N, bool kRoot>
Info<N> var_shape(const Info<N>& self, OptionalDims dims, std::optional<Scalar>, bool keep) {
  return variance_info(self, dims, keep, false, "std and var");
}
template <bool kRoot>
void var_kernel(Context& context, const Tensor& self, OptionalDims dims, std::optional<Scalar> correction,
                bool, Tensor& out) {
  const Output outputs[] = {computed_result(out)};
  run_variance<kRoot, false>(context, self, dims, correction, outputs);
}
template <typename N, bool kRoot>
std::tuple<Info<N>, Info<N>> var_mean_shape(const Info<N>& self, OptionalDims dims, std::optional<Scalar>,
                                            bool keep) {
  const char* const name = kRoot ? "std_mean" : "var_mean";
  return {variance_info(self, dims, keep, false, name), variance_info(self, dims, keep, true, name)};
}
template <bool kRoot>
void var_mean_kernel(Context& context, const Tensor& self, OptionalDims dims,
                     std::optional<Scalar> correction, bool, Tensor& variance, Tensor& mean) {
  const Output outputs[] = {computed_result(variance), computed_result(mean)};
  run_variance<kRoot, true>(context, self, dims, correction, outputs);
}

constexpr const char* kNames[] = {"aten::var.correction", "aten::std.correction", "aten::var_mean.correction",
                                  "aten::std_mean.correction"};

template <int kName, typename Result>
Result with_bias(Context& context, const Tensor& self, const Value& dims, bool unbiased, bool keep) {
  return call_with<Result>(context, kNames[kName], {self, dims},
                           {{"correction", int64_t{unbiased ? 1 : 0}}, {"keepdim", keep}});
}
template <int kName, typename Result>
Result of_all(Context& context, const Tensor& self, bool unbiased) {
  return with_bias<kName, Result>(context, self, Value(), unbiased, false);
}
template <int kName, typename Result>
Result of_dims(Context& context, const Tensor& self, OptionalDims dims, bool unbiased, bool keep) {
  // An empty list means all, unlike in the form with a correction.
  return with_bias<kName, Result>(context, self, dims && !dims->empty() ? Value(Dims(*dims)) : Value(),
                                  unbiased, keep);
}

// ---- roots of variances
KeywordArguments corrected(std::optional<Scalar> correction, bool keep) {
  return {{"correction", correction ? correction->to_double() : 1.0}, {"keepdim", keep}};
}
Tensor std_parts(Context& c, const Tensor& self, const Value& dims, std::optional<Scalar> correction,
                 bool keep) {
  return call(c, "aten::sqrt",
              call_with(c, "aten::var.correction", {self, dims}, corrected(correction, keep)));
}
std::tuple<Tensor, Tensor> std_mean_parts(Context& c, const Tensor& self, const Value& dims,
                                          std::optional<Scalar> correction, bool keep) {
  const auto [variance, mean] = call_with<std::tuple<Tensor, Tensor>>(
      c, "aten::var_mean.correction", {self, dims}, corrected(correction, keep));
  return {call(c, "aten::sqrt", variance), mean};
}

}  // namespace

void define_variance(Library& library) {
  using Pair = std::tuple<Tensor, Tensor>;
  library
      .define(
          "aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
          "keepdim=False) -> Tensor")
      .shape<var_shape<Size, false>, var_shape<SymInt, false>>()
      .kernel<var_kernel<false>>()
      .work<reduction_work>();
  library
      .define(
          "aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
          "keepdim=False) -> Tensor")
      .shape<var_shape<Size, true>, var_shape<SymInt, true>>()
      .kernel<var_kernel<true>>()
      .core_decomposition<std_parts>()
      .work<reduction_work>();
  library
      .define(
          "aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
          "keepdim=False) -> (Tensor, Tensor)")
      .shape<var_mean_shape<Size, false>, var_mean_shape<SymInt, false>>()
      .kernel<var_mean_kernel<false>>();
  library
      .define(
          "aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
          "keepdim=False) -> (Tensor, Tensor)")
      .shape<var_mean_shape<Size, true>, var_mean_shape<SymInt, true>>()
      .kernel<var_mean_kernel<true>>()
      .core_decomposition<std_mean_parts>();
  library.define("aten::var(Tensor self, bool unbiased=True) -> Tensor")
      .composite<of_all<0, Tensor>>()
      .work<reduction_work>();
  library.define("aten::std(Tensor self, bool unbiased=True) -> Tensor")
      .composite<of_all<1, Tensor>>()
      .work<reduction_work>();
  library.define("aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")
      .composite<of_all<2, Pair>>();
  library.define("aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")
      .composite<of_all<3, Pair>>();
  library.define("aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor")
      .composite<of_dims<0, Tensor>>()
      .work<reduction_work>();
  library.define("aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor")
      .composite<of_dims<1, Tensor>>()
      .work<reduction_work>();
  library
      .define(
          "aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, "
          "Tensor)")
      .composite<of_dims<2, Pair>>();
  library
      .define(
          "aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, "
          "Tensor)")
      .composite<of_dims<3, Pair>>();
}

}  // namespace flambeau::ops
