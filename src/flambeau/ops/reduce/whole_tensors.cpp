// Questions about, and small work on, whole tensors: equality, trace, cross product, bounded norms,
// differences.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::ops {
namespace {

bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }

bool equal(Context& context, const Tensor& self, const Tensor& other) {
  if (!(self.sizes() == other.sizes())) return false;
  if (self.element_count() == 0) return true;
  const Tensor same = call(context, "aten::eq.Tensor", self, other);
  return item(call(context, "aten::all", same)).to_bool();
}
bool allclose(Context& context, const Tensor& self, const Tensor& other, double rtol, double atol,
              bool equal_nan) {
  const Tensor close = call(context, "aten::isclose", self, other, rtol, atol, equal_nan);
  return item(call(context, "aten::all", close)).to_bool();
}

template <typename N>
Info<N> trace_shape(const Info<N>& self) {
  if (self.dim() != 2) throw Error(ErrorCode::kInvalidArgument, "trace: expected a matrix");
  return contiguous<N>(is_integral(self.dtype) ? DType::kInt64 : self.dtype, {}, self.device);
}
void trace_kernel(Context& context, const Tensor& self, Tensor& out) {
  Context inner = context.without_interceptor();
  // Strides of nothing may be as large as numbers go.
  const int64_t stride = self.element_count() == 0 ? 0 : self.strides()[0] + self.strides()[1];
  const Tensor diagonal =
      self.with_geometry({{std::min(self.sizes()[0], self.sizes()[1])}, {stride}, self.offset()});
  copy_into(context, call(inner, "aten::sum", diagonal), out);
}

// ---- cross product
// Half precision is rounded after each step, as PyTorch computes it here.
struct CrossPart {
  DType dtype;
  float step(float x) const {
    if (dtype == DType::kFloat16) return Float16::from_float(x).to_float();
    return dtype == DType::kBFloat16 ? BFloat16::from_float(x).to_float() : x;
  }
  template <typename T>
  T operator()(T a, T b, T c, T d) const {
    if constexpr (std::is_same_v<T, int64_t>) {
      const auto product = [](int64_t x, int64_t y) {
        return static_cast<uint64_t>(x) * static_cast<uint64_t>(y);
      };
      return static_cast<int64_t>(product(a, b) - product(c, d));
    } else if constexpr (std::is_same_v<T, float>) {
      return step(a * b) - step(c * d);
    } else {
      return a * b - c * d;
    }
  }
};
template <typename N>
Info<N> cross_shape(const Info<N>& self, const Info<N>& other, Size dim) {
  if (self.dim() != other.dim()) {
    throw Error(ErrorCode::kInvalidArgument, "linalg.cross: inputs must have the same number of dimensions.");
  }
  const size_t d = wrap_dim(dim, self.dim());
  if (self.dim() == 0) throw Error(ErrorCode::kInvalidArgument, "linalg.cross: inputs have no dimensions");
  if (!(self.sizes[d] == N(3) && other.sizes[d] == N(3))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("linalg.cross: inputs dimension {} must have length 3. Got {} and {}", dim,
                            number_text(self.sizes[d]), number_text(other.sizes[d])));
  }
  return contiguous<N>(result_type(self, other), broadcast(self.sizes, other.sizes), self.device);
}
void cross_kernel(Context& context, const Tensor& self, const Tensor& other, Size dim, Tensor& out) {
  const size_t d = wrap_dim(dim, out.dim());
  if (out.dtype() == DType::kBool) fail_dtype("cross", out.dtype());
  const auto part = [&](const Tensor& tensor, int64_t i) {
    Geometry geometry = tensor.geometry();
    geometry.offset += i * geometry.strides[d];
    geometry.sizes.erase(d);
    geometry.strides.erase(d);
    return tensor.with_geometry(std::move(geometry));
  };
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t next = (i + 1) % 3;
    const int64_t last = (i + 2) % 3;
    map(context, "cross", CrossPart{out.dtype()}, out.dtype(), part(out, i), part(self, next),
        part(other, last), part(self, last), part(other, next));
  }
}
Tensor cross(Context& context, const Tensor& self, const Tensor& other, std::optional<Size> dim) {
  if (!dim) {
    for (int64_t d = 0; d < rank_of(self) && !dim; ++d) {
      if (size_of(self, d) == SymInt(3)) dim = d;
    }
    if (!dim) throw Error(ErrorCode::kInvalidArgument, "no dimension of size 3 in input");
  }
  return call_with(context, "aten::linalg_cross", {self, other}, {{"dim", *dim}});
}

// ---- renorm: slices whose norm is beyond a bound are scaled down to it
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
                                 {{"dtype", Value(kernels::compute_dtype(self.dtype()))}});
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

// ---- differences of neighbours
Tensor diff(Context& context, const Tensor& self, Size n, Size dim, const Tensor* prepend,
            const Tensor* append) {
  if (rank_of(self) == 0) {
    throw Error(ErrorCode::kInvalidArgument, "diff expects input to be at least one-dimensional");
  }
  if (n < 0) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("order must be non-negative but got {}", n));
  }
  if (n == 0) return call(context, "aten::clone", self);
  Tensor whole = self;
  if (prepend != nullptr || append != nullptr) {
    TensorList pieces;
    if (prepend != nullptr) pieces.push_back(*prepend);
    pieces.push_back(self);
    if (append != nullptr) pieces.push_back(*append);
    whole = call(context, "aten::cat", pieces, dim);
  }
  const char* const minus = whole.dtype() == DType::kBool ? "aten::logical_xor" : "aten::sub.Tensor";
  for (int64_t i = 0; i < n && !(size_of(whole, dim) == SymInt(0)); ++i) {
    const SymInt length = size_of(whole, dim) - SymInt(1);
    const Tensor before = call(context, "aten::narrow", whole, dim, 0, length);
    whole = call(context, minus, call(context, "aten::narrow", whole, dim, 1, length), before);
  }
  return whole;
}

Tensor trace_parts(Context& c, const Tensor& self) {
  return call(c, "aten::sum", call(c, "aten::diagonal_copy", self));
}

}  // namespace

void define_whole_tensors(Library& library) {
  library.define("aten::is_same_size(Tensor self, Tensor other) -> bool").function<is_same_size>();
  library.define("aten::equal(Tensor self, Tensor other) -> bool").function<equal>();
  library
      .define(
          "aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, "
          "bool equal_nan=False) -> bool")
      .function<allclose>();
  library.define("aten::trace(Tensor self) -> Tensor")
      .shape<trace_shape<Size>, trace_shape<SymInt>>()
      .kernel<trace_kernel>()
      .core_decomposition<trace_parts>();
  library.define("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor")
      .shape<cross_shape<Size>, cross_shape<SymInt>>()
      .kernel<cross_kernel>();
  library.define("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor").composite<cross>();
  library.define("aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor")
      .shape<renorm_shape<Size>, renorm_shape<SymInt>>()
      .kernel<renorm_kernel>();
  library
      .define(
          "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor")
      .composite<diff>();
}

}  // namespace flambeau::ops
