// Matrices that are made of data: covariances, correlations, and Vandermonde's.
#include <fmt/format.h>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/linalg/batch.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

void require_weights(Context& c, const Tensor& weights, const Tensor& input, std::string_view name,
                     bool fits_type, std::string_view type) {
  if (rank_of(weights) > 1) {
    fail_argument(
        fmt::format("cov(): expected {} to have one or fewer dimensions but got {} with {} dimensions", name,
                    name, rank_of(weights)));
  }
  if (!fits_type) {
    fail_argument(fmt::format("cov(): expected {} to have {} dtype but got {} with {} dtype", name, type,
                              name, dtype_name(weights.dtype())));
  }
  if (!(count_of(weights) == size_of(input, 1))) {
    fail_argument(fmt::format(
        "cov(): expected {} to have the same numel as there are observations in the input but got {} != {}",
        name, number_text(count_of(weights)), number_text(size_of(input, 1))));
  }
  // While a model is traced there is nothing to look at.
  if (c.interceptor != nullptr || weights.element_count() == 0) return;
  if (item(call(c, "aten::min", weights)).to_double() < 0)
    fail_argument(fmt::format("cov(): {} cannot be negative", name));
}

Tensor cov(Context& c, const Tensor& self, Size correction, const Tensor* fweights, const Tensor* aweights) {
  if (rank_of(self) > 2) {
    fail_argument(fmt::format(
        "cov(): expected input to have two or fewer dimensions but got an input with {} dimensions",
        rank_of(self)));
  }
  require(self.dtype() != DType::kBool, "cov(): bool dtype is not supported for input");
  Tensor in = rank_of(self) < 2 ? call(c, "aten::view", self, Dims{1, -1}) : self;
  Tensor weights;
  if (fweights != nullptr) {
    require_weights(c, *fweights, in, "fweights", is_integral(fweights->dtype()), "integral");
    weights = *fweights;
  }
  if (aweights != nullptr) {
    require_weights(c, *aweights, in, "aweights", is_floating(aweights->dtype()), "floating point");
    weights = weights.defined() ? parts::mul(c, weights, *aweights) : *aweights;
  }
  const Tensor sum = weights.defined() ? call(c, "aten::sum", weights)
                                       : call_with(c, "aten::scalar_tensor", {size_of(in, 1)},
                                                   {{"dtype", DType::kInt64}, {"device", self.device()}});
  if (weights.defined() && c.interceptor == nullptr) {
    require(item(sum).to_double() != 0, "cov(): weights sum to zero, can't be normalized");
  }
  const auto weighted = [&](const Tensor& x) { return weights.defined() ? parts::mul(c, x, weights) : x; };
  const Tensor mean = parts::div(c, call(c, "aten::sum.dim_IntList", weighted(in), Dims{1}), sum);
  Tensor divisor;
  if (aweights != nullptr && correction != Size(0)) {
    const Tensor squares = call(c, "aten::sum", parts::mul(c, weights, *aweights));
    divisor = parts::sub(c, sum, parts::div(c, parts::mul(c, squares, correction.value()), sum));
  } else {
    divisor = parts::sub(c, sum, correction.value());
  }
  // With too few degrees of freedom everything is infinite or no number.
  divisor = call(c, "aten::clamp_min", divisor, 0);
  in = parts::sub(c, in, call(c, "aten::unsqueeze", mean, 1));
  Tensor turned = call(c, "aten::t", weighted(in));
  if (is_complex(turned.dtype())) turned = call(c, "aten::conj", turned);
  return call(c, "aten::squeeze", parts::div(c, call(c, "aten::mm", in, turned), divisor));
}

Tensor corrcoef(Context& c, const Tensor& self) {
  if (rank_of(self) > 2) {
    fail_argument(fmt::format(
        "corrcoef(): expected input to have two or fewer dimensions but got an input with {} dimensions",
        rank_of(self)));
  }
  Tensor all = call(c, "aten::cov", self);
  if (rank_of(all) == 0) return parts::div(c, all, all);
  Tensor diagonal = call(c, "aten::diag", all);
  const bool complex = is_complex(all.dtype());
  if (complex) diagonal = call(c, "aten::real", diagonal);
  const Tensor deviation = call(c, "aten::sqrt", diagonal);
  all = parts::div(c, all, call(c, "aten::view", deviation, Dims{-1, 1}));
  all = parts::div(c, all, call(c, "aten::view", deviation, Dims{1, -1}));
  const auto clipped = [&](const Tensor& x) { return call(c, "aten::clip", x, -1, 1); };
  if (!complex) return clipped(all);
  return call(c, "aten::complex", clipped(call(c, "aten::real", all)), clipped(call(c, "aten::imag", all)));
}

Tensor linalg_vander(Context& c, const Tensor& given, std::optional<SymInt> count) {
  const Tensor x = count && rank_of(given) == 0 ? call(c, "aten::unsqueeze", given, 0) : given;
  require(x.dtype() != DType::kBool && rank_of(x) > 0,
          "torch.linalg.vander: x must be numbers, and N be given where it has no dimensions");
  const SymInt columns = count ? *count : size_of(x, -1);
  require(columns > SymInt(1), "torch.linalg.vander: N must be greater than 1.");
  SymIntList sizes = sizes_of(x);
  sizes.push_back(columns - SymInt(1));
  const Tensor powers =
      call(c, "aten::cumprod", call(c, "aten::expand", call(c, "aten::unsqueeze", x, -1), sizes), -1);
  sizes.back() = 1;
  return call(c, "aten::cat", TensorList{call(c, "aten::new_ones", powers, sizes), powers}, -1);
}

Tensor vander(Context& c, const Tensor& x, std::optional<Size> count, bool increasing) {
  require(rank_of(x) == 1, "x must be a one-dimensional tensor.");
  const SymInt columns = count ? SymInt(count->value()) : size_of(x, 0);
  require(columns >= SymInt(0), "N must be non-negative.");
  const DType dtype = is_integral(x.dtype()) ? DType::kInt64 : x.dtype();
  const Tensor result = call_with(c, "aten::empty.memory_format", {SymIntList{size_of(x, 0), columns}},
                                  {{"dtype", dtype}, {"device", x.device()}});
  if (columns > SymInt(0)) call(c, "aten::fill_.Scalar", call(c, "aten::select.int", result, 1, 0), 1);
  if (columns > SymInt(1)) {
    const auto later = [&] { return call(c, "aten::slice.Tensor", result, 1, 1); };
    call(c, "aten::copy_", later(), call(c, "aten::unsqueeze", x, 1));
    const Tensor target = later();
    call(c, "aten::copy_", target, call(c, "aten::cumprod", later(), 1));
  }
  return increasing ? result : call(c, "aten::flip", result, Dims{1});
}

}  // namespace

void define_covariance(Library& library) {
  library
      .define(
          "aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> "
          "Tensor")
      .composite<cov>();
  library.define("aten::corrcoef(Tensor self) -> Tensor").composite<corrcoef>();
  library.define("aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor").composite<linalg_vander>();
  library.define("aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor").composite<vander>();
}

}  // namespace flambeau::ops
