// Weights given as direction and length: w = v * g / |v|, with one length for each index of a dimension.
#include <cmath>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/tensor/elements/compute.h"

namespace flambeau::ops {
namespace {

// Norms are kept in float for the small types.
DType norm_type(DType dtype) {
  return dtype == DType::kBFloat16 || dtype == DType::kFloat16 ? DType::kFloat32 : dtype;
}

template <typename N>
std::tuple<Info<N>, Info<N>> pair_shape(const Info<N>& v, const Info<N>& g, Size) {
  Info<N> norm = g;
  norm.dtype = norm_type(g.dtype);
  norm.offset = 0;
  return {contiguous<N>(v.dtype, v.sizes, v.device), std::move(norm)};
}

template <typename N>
Info<N> weight_norm_shape(const Info<N>& v, const Info<N>& g, Size dim) {
  return std::get<0>(pair_shape(v, g, dim));
}

template <typename T>
void normalize(const Tensor& v, int64_t outer, int64_t size, int64_t inner, const T* lengths, T* norms,
               T* to) {
  const T* const from = v.data<T>();
  for (int64_t i = 0; i < size; ++i) {
    T sum = 0;
    for (int64_t o = 0; o < outer; ++o) {
      const T* const row = from + (o * size + i) * inner;
      for (int64_t j = 0; j < inner; ++j) sum += row[j] * row[j];
    }
    norms[i] = std::sqrt(sum);
    const T factor = lengths[i] / norms[i];
    for (int64_t o = 0; o < outer; ++o) {
      const int64_t at = (o * size + i) * inner;
      for (int64_t j = 0; j < inner; ++j) to[at + j] = from[at + j] * factor;
    }
  }
}

void run(Context& context, const Tensor& v, const Tensor& g, int64_t dim, const Tensor& out,
         const Tensor* norm) {
  if (!is_floating(v.dtype())) fail_dtype("weight_norm_kernel", v.dtype());
  const DType dtype = compute_dtype(v.dtype());
  const auto as = [&](const Tensor& tensor, bool copies) {
    const Tensor made = context.allocate(dtype, tensor.sizes());
    if (copies) copy_into(context, tensor, made);
    return made;
  };
  const Tensor direction = as(v, true);
  const Tensor length = as(g, true);
  const Tensor norms = as(g, false);
  const Tensor result = as(out, false);
  int64_t outer = 1, size = 1, inner = 1;
  if (dim == -1) {  // one length for all
    inner = v.element_count();
  } else {
    const size_t at = wrap_dim(dim, v.dim());
    for (size_t d = 0; d < v.dim(); ++d) (d < at ? outer : d == at ? size : inner) *= v.sizes()[d];
  }
  require(g.element_count() == size, "weight_norm: g must have one element for each index of the dimension");
  if (dtype == DType::kFloat64) {
    normalize(direction, outer, size, inner, length.data<double>(), norms.mutable_data<double>(),
              result.mutable_data<double>());
  } else {
    normalize(direction, outer, size, inner, length.data<float>(), norms.mutable_data<float>(),
              result.mutable_data<float>());
  }
  copy_into(context, result, out);
  if (norm != nullptr) copy_into(context, norms, *norm);
}

void pair_kernel(Context& context, const Tensor& v, const Tensor& g, Size dim, Tensor& out, Tensor& norm) {
  run(context, v, g, dim, out, &norm);
}
void weight_norm_kernel(Context& context, const Tensor& v, const Tensor& g, Size dim, Tensor& out) {
  run(context, v, g, dim, out, nullptr);
}

Tensor weight_norm_parts(Context& c, const Tensor& v, const Tensor& g, Size dim) {
  Dims others;
  for (int64_t d = 0; d < rank_of(v); ++d) {
    if (d != dim) others.push_back(d);
  }
  const Tensor norm = call(c, "aten::linalg_vector_norm", v, 2, others, true);
  return parts::mul(c, v, parts::div(c, g, norm));
}

}  // namespace

void define_weight_norm(Library& library) {
  library.define("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor")
      .shape<weight_norm_shape<Size>, weight_norm_shape<SymInt>>()
      .kernel<weight_norm_kernel>()
      .composite<weight_norm_parts>();
  library.define("aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)")
      .shape<pair_shape<Size>, pair_shape<SymInt>>()
      .kernel<pair_kernel>();
}

}  // namespace flambeau::ops
