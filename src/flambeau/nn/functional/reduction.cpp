#include "flambeau/nn/functional/reduction.h"

namespace flambeau::nn {

Tensor sum(Input x, std::optional<DType> dtype) {
  return call(x, "aten::sum", {x.tensor}, {{"dtype", dtype}});
}
Tensor sum(Input x, const Dims& dims, bool keepdim, std::optional<DType> dtype) {
  return call(x, "aten::sum.dim_IntList", {x.tensor, dims, keepdim}, {{"dtype", dtype}});
}
Tensor sum(Input x, int64_t dim, bool keepdim, std::optional<DType> dtype) {
  return call(x, "aten::sum.dim_IntList", {x.tensor, dim, keepdim}, {{"dtype", dtype}});
}
Tensor mean(Input x, std::optional<DType> dtype) {
  return call(x, "aten::mean", {x.tensor}, {{"dtype", dtype}});
}
Tensor mean(Input x, const Dims& dims, bool keepdim, std::optional<DType> dtype) {
  return call(x, "aten::mean.dim", {x.tensor, dims, keepdim}, {{"dtype", dtype}});
}
Tensor mean(Input x, int64_t dim, bool keepdim, std::optional<DType> dtype) {
  return call(x, "aten::mean.dim", {x.tensor, dim, keepdim}, {{"dtype", dtype}});
}
Tensor prod(Input x, int64_t dim, bool keepdim) {
  return call(x, "aten::prod.dim_int", {x.tensor, dim, keepdim});
}
Tensor var(Input x, const Dims& dims, bool unbiased, bool keepdim) {
  return call(x, "aten::var.dim", {x.tensor, dims, unbiased, keepdim});
}
Tensor var(Input x, int64_t dim, bool unbiased, bool keepdim) {
  return call(x, "aten::var.dim", {x.tensor, dim, unbiased, keepdim});
}
Tensor std(Input x, int64_t dim, bool unbiased, bool keepdim) {
  return call(x, "aten::std.dim", {x.tensor, dim, unbiased, keepdim});
}
Tensor logsumexp(Input x, int64_t dim, bool keepdim) {
  return call(x, "aten::logsumexp", {x.tensor, dim, keepdim});
}
Tensor cumsum(Input x, int64_t dim) { return call(x, "aten::cumsum", {x.tensor, dim}); }
Tensor cumprod(Input x, int64_t dim) { return call(x, "aten::cumprod", {x.tensor, dim}); }
Tensor max(Input x) { return call(x, "aten::max", {x.tensor}); }
Tensor min(Input x) { return call(x, "aten::min", {x.tensor}); }
std::pair<Tensor, Tensor> max(Input x, int64_t dim, bool keepdim) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::max.dim", {x.tensor, dim, keepdim});
}
std::pair<Tensor, Tensor> min(Input x, int64_t dim, bool keepdim) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::min.dim", {x.tensor, dim, keepdim});
}
Tensor amax(Input x, int64_t dim, bool keepdim) { return call(x, "aten::amax", {x.tensor, dim, keepdim}); }
Tensor amax(Input x, const Dims& dims, bool keepdim) {
  return call(x, "aten::amax", {x.tensor, dims, keepdim});
}
Tensor amin(Input x, int64_t dim, bool keepdim) { return call(x, "aten::amin", {x.tensor, dim, keepdim}); }
Tensor amin(Input x, const Dims& dims, bool keepdim) {
  return call(x, "aten::amin", {x.tensor, dims, keepdim});
}
Tensor argmax(Input x, std::optional<int64_t> dim, bool keepdim) {
  return call(x, "aten::argmax", {x.tensor, dim, keepdim});
}
Tensor argmin(Input x, std::optional<int64_t> dim, bool keepdim) {
  return call(x, "aten::argmin", {x.tensor, dim, keepdim});
}
Tensor any(Input x) { return call(x, "aten::any", {x.tensor}); }
Tensor any(Input x, int64_t dim, bool keepdim) { return call(x, "aten::any.dim", {x.tensor, dim, keepdim}); }
Tensor all(Input x) { return call(x, "aten::all", {x.tensor}); }
Tensor all(Input x, int64_t dim, bool keepdim) { return call(x, "aten::all.dim", {x.tensor, dim, keepdim}); }
std::pair<Tensor, Tensor> topk(Input x, const SymInt& k, int64_t dim, bool largest, bool sorted) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::topk", {x.tensor, int_value(k), dim, largest, sorted});
}
std::pair<Tensor, Tensor> sort(Input x, int64_t dim, bool descending) {
  return call<std::pair<Tensor, Tensor>>(x, "aten::sort", {x.tensor, dim, descending});
}
Tensor argsort(Input x, int64_t dim, bool descending) {
  return call(x, "aten::argsort", {x.tensor, dim, descending});
}
Tensor vector_norm(Input x, const Number& ord, const std::optional<Dims>& dims, bool keepdim) {
  return call(x, "aten::linalg_vector_norm", {x.tensor, ord.value(), dims, keepdim});
}

Tensor normalize(Input x, double p, int64_t dim, double eps) {
  const Tensor norm = call(x, "aten::linalg_vector_norm", {x.tensor, p, Dims{dim}, true});
  const Tensor safe = call(x, "aten::clamp_min", {norm, eps});
  return call(x, "aten::div.Tensor", {x.tensor, call(x, "aten::expand_as", {safe, x.tensor})});
}

}  // namespace flambeau::nn
