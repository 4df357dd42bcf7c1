// Slices whose norm is beyond a bound are scaled down to it.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> renorm_shape(const Info<N>& self, Scalar p, Size dim, Scalar) {
  if (!(p.to_double() > 0))
    throw Error(ErrorCode::kInvalidArgument, "renorm: non-positive-norm not supported");
  if (self.dim() < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("renorm: input needs at least 2 dimensions, got {} dimensions", self.dim()));
  }
  wrap_dim(dim, self.dim());
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
void renorm_kernel(Context& context, const Tensor& self, Scalar p, Size dim, Scalar maxnorm, Tensor& out) {
  const size_t d = wrap_dim(dim, self.dim());
  Dims others;
  for (size_t i = 0; i < self.dim(); ++i) {
    if (i != d) others.push_back(static_cast<int64_t>(i));
  }
  Context inner = context.without_interceptor();
  // Half is bounded in float.
  const Tensor norms = call_with(inner, "aten::linalg_vector_norm", {self, Value(p), others, true},
                                 {{"dtype", Value(compute_dtype(self.dtype()))}});
  const Tensor packed = norms.to_contiguous();
  ScratchVector<double> factors(static_cast<size_t>(packed.element_count()));
  load_packed(packed.dtype(), packed.data(), static_cast<int64_t>(packed.element_size()), factors.size(),
              DType::kFloat64, factors.data());
  const double bound = maxnorm.to_double();
  for (double& norm : factors) norm = norm > bound ? bound / (norm + 1e-7) : 1.0;
  Tensor scale = context.allocate(packed.dtype(), packed.sizes());
  store_packed(DType::kFloat64, factors.data(), factors.size(), scale.dtype(), scale.mutable_data(),
               static_cast<int64_t>(scale.element_size()));
  copy_into(context, call(inner, "aten::mul.Tensor", self, scale), out);
}

// ---- rows that indices name
template <typename N>
Info<N> embedding_renorm_shape(const Info<N>& self, const Info<N>& indices, double, double) {
  if (self.dim() != 2) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("embedding_renorm: expected 'self' to have 2 dimensions, but got {}", self.dim()));
  }
  require_index_dtype(indices.dtype);
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
void embedding_renorm_kernel(Context& context, const Tensor& self, const Tensor& indices, double max_norm,
                             double norm_type, Tensor& out) {
  std::vector<int64_t> rows = read_indices(indices);
  for (const int64_t row : rows) {
    if (row < 0 || row >= self.sizes()[0]) fail_index(row, 0, self.sizes()[0]);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  copy_into(context, self, out);
  Context plain = context.without_interceptor();
  for (const int64_t row : rows) {
    const Tensor one = call(plain, "aten::select.int", out, 0, row);
    const double norm = item(call(plain, "aten::norm.Scalar", one, norm_type)).to_double();
    if (norm > max_norm) call(plain, "aten::mul_.Scalar", one, max_norm / (norm + 1e-7));
  }
}

}  // namespace

void define_renorm(Library& library) {
  library.define("aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor")
      .shape<renorm_shape<Size>, renorm_shape<SymInt>>()
      .kernel<renorm_kernel>();
  library
      .define(
          "aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor")
      .shape<embedding_renorm_shape<Size>, embedding_renorm_shape<SymInt>>()
      .kernel<embedding_renorm_kernel>();
}

}  // namespace flambeau::ops
