// Products of every element with every other one: outer, ger, addr, kron; and elementwise dots:
// linalg_vecdot.
#include <fmt/format.h>

#include "flambeau/base/wrapping.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {
namespace {

struct OuterMultiply {
  static constexpr Hot kHot = Hot::kMul;
  template <typename T>
  T operator()(T a, T b) const {
    return wrapping_multiply(a, b);
  }
};

template <typename N>
Info<N> as_column(const Info<N>& vector) {
  Info<N> column = vector;
  column.sizes.push_back(1);
  column.strides.push_back(1);
  return column;
}

template <typename N>
Info<N> outer_shape(const Info<N>& self, const Info<N>& vec2) {
  if (self.dim() != 1)
    fail_argument(fmt::format("outer: Expected 1-D argument self, but got {}-D", self.dim()));
  if (vec2.dim() != 1)
    fail_argument(fmt::format("outer: Expected 1-D argument vec2, but got {}-D", vec2.dim()));
  return elementwise_info<N>(result_type(self, vec2), as_column(self), vec2);
}

void outer_kernel(Context& context, const Tensor& self, const Tensor& vec2, Tensor& out) {
  map(context, "mul", OuterMultiply{}, out.dtype(), out, unsqueezed(self, 1), vec2);
}

// ---- addr: beta * self + alpha * vec1 (a column) * vec2 (a row)

struct AddProduct {
  KnownNumber beta, alpha;
  template <typename T>
  T operator()(T self, T a, T b) const {
    const T added = wrapping_multiply(number<T>(alpha), wrapping_multiply(a, b));
    if (number<T>(beta) == T(0)) return added;
    return wrapping_add(wrapping_multiply(number<T>(beta), self), added);
  }
};

template <typename N>
Info<N> addr_shape(const Info<N>& self, const Info<N>& vec1, const Info<N>& vec2, Scalar beta, Scalar alpha) {
  if (vec1.dim() != 1)
    fail_argument(fmt::format("addr: Expected 1-D argument vec1, but got {}-D", vec1.dim()));
  if (vec2.dim() != 1)
    fail_argument(fmt::format("addr: Expected 1-D argument vec2, but got {}-D", vec2.dim()));
  const DType dtype = promote(promote(self.dtype, vec1.dtype), vec2.dtype);
  if (dtype != DType::kBool) require_factors(dtype, beta, alpha);
  Info<N> whole = self;
  const ShortList<N> sizes{vec1.sizes[0], vec2.sizes[0]};
  require(self.dim() <= 2 && broadcast(self.sizes, sizes) == sizes,
          "addr: self does not broadcast to the size of the result");
  whole.sizes = sizes;
  whole.strides = {0, 0};
  for (size_t d = 2 - self.dim(); d < 2; ++d) {
    const size_t from = d - (2 - self.dim());
    if (self.sizes[from] == sizes[d]) whole.strides[d] = self.strides[from];
  }
  return elementwise_info<N>(dtype, whole, as_column(vec1), vec2);
}

struct Scale {
  double factor;
  template <typename T>
    requires std::is_floating_point_v<T>
  T operator()(T x) const {
    return x * static_cast<T>(factor);
  }
};
struct OuterPlus {
  template <typename T>
    requires std::is_floating_point_v<T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

// The small types are rounded after every step, factors included, as PyTorch has it.
void add_rounded(Context& context, const Tensor& self, const Tensor& vec1, const Tensor& vec2,
                 const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  const DType dtype = out.dtype();
  const auto rounded = [&](const Scalar& factor) {
    return Scale{item(scalar_tensor(factor.to_double(), dtype)).to_double()};
  };
  const Tensor scaled = context.allocate(dtype, vec1.sizes());
  map(context, "addr_cpu", rounded(alpha), dtype, scaled, vec1);
  if (beta.to_double() == 0) {
    return map(context, "addr_cpu", OuterMultiply{}, dtype, out, unsqueezed(scaled, 1), vec2);
  }
  const Tensor products = context.allocate(dtype, out.sizes());
  map(context, "addr_cpu", OuterMultiply{}, dtype, products, unsqueezed(scaled, 1), vec2);
  const Tensor kept = context.allocate(dtype, self.sizes());
  map(context, "addr_cpu", rounded(beta), dtype, kept, self);
  map(context, "addr_cpu", OuterPlus{}, dtype, out, kept, products);
}

void addr_kernel(Context& context, const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta,
                 Scalar alpha, Tensor& out) {
  if (out.dtype() == DType::kComplex32) fail_dtype("addr_cpu", out.dtype());
  if (out.dtype() == DType::kFloat16 || out.dtype() == DType::kBFloat16) {
    return add_rounded(context, self, vec1, vec2, beta, alpha, out);
  }
  map(context, "addr_cpu", AddProduct{beta, alpha}, out.dtype(), out, self, unsqueezed(vec1, 1), vec2);
}

// ---- kron

template <typename N>
Info<N> kron_shape(const Info<N>& self, const Info<N>& other) {
  ShortList<N> sizes;
  const size_t rank = std::max(self.dim(), other.dim());
  for (size_t d = 0; d < rank; ++d) {
    N size = 1;
    if (d + self.dim() >= rank) size *= self.sizes[d + self.dim() - rank];
    if (d + other.dim() >= rank) size *= other.sizes[d + other.dim() - rank];
    sizes.push_back(size);
  }
  return contiguous<N>(result_type(self, other), std::move(sizes), self.device);
}

// Each dimension of the result is one of self's with one of other's inside.
void kron_kernel(Context& context, const Tensor& self, const Tensor& other, Tensor& out) {
  const size_t rank = out.dim();
  Geometry a{{}, {}, self.offset()}, b{{}, {}, other.offset()}, whole{{}, {}, out.offset()};
  for (size_t d = 0; d < rank; ++d) {
    const bool in_self = d + self.dim() >= rank;
    const bool in_other = d + other.dim() >= rank;
    const int64_t outer_size = in_self ? self.sizes()[d + self.dim() - rank] : 1;
    const int64_t inner_size = in_other ? other.sizes()[d + other.dim() - rank] : 1;
    for (Geometry* const geometry : {&a, &b, &whole}) {
      geometry->sizes.push_back(outer_size);
      geometry->sizes.push_back(inner_size);
    }
    a.strides.push_back(in_self ? self.strides()[d + self.dim() - rank] : 0);
    a.strides.push_back(0);
    b.strides.push_back(0);
    b.strides.push_back(in_other ? other.strides()[d + other.dim() - rank] : 0);
    whole.strides.push_back(out.strides()[d] * inner_size);
    whole.strides.push_back(out.strides()[d]);
  }
  map(context, "mul", OuterMultiply{}, out.dtype(), out.with_geometry(std::move(whole)),
      self.with_geometry(std::move(a)), other.with_geometry(std::move(b)));
}

Tensor linalg_vecdot(Context& context, const Tensor& x, const Tensor& y, Size dim) {
  const Tensor left = is_complex(x.dtype()) ? call(context, "aten::conj_physical", x) : x;
  return call(context, "aten::sum.dim_IntList", call(context, "aten::mul.Tensor", left, y), Dims{dim});
}

Tensor outer_parts(Context& c, const Tensor& self, const Tensor& vec2) {
  const Tensor column = call(c, "aten::reshape", self, SymIntList{size_of(self, 0), SymInt(1)});
  return parts::mul(c, column, vec2);
}

// Each dimension of both between those of the other, which are of size 1 there.
Tensor kron_parts(Context& c, const Tensor& self, const Tensor& other) {
  SymIntList a = sizes_of(self);
  SymIntList b = sizes_of(other);
  while (a.size() < b.size()) a = inserted(a, 0, 1);
  while (b.size() < a.size()) b = inserted(b, 0, 1);
  SymIntList left, right, sizes;
  for (size_t d = 0; d < a.size(); ++d) {
    left.push_back(a[d]);
    left.push_back(1);
    right.push_back(1);
    right.push_back(b[d]);
    sizes.push_back(a[d] * b[d]);
  }
  const Tensor wide = call(c, "aten::reshape", self, left);
  return call(c, "aten::reshape", parts::mul(c, wide, call(c, "aten::reshape", other, right)), sizes);
}

}  // namespace

void define_outer(Library& library) {
  library.define("aten::outer(Tensor self, Tensor vec2) -> Tensor")
      .shape<outer_shape<Size>, outer_shape<SymInt>>()
      .kernel<outer_kernel>()
      .composite<outer_parts>();
  library.define("aten::ger(Tensor self, Tensor vec2) -> Tensor")
      .shape<outer_shape<Size>, outer_shape<SymInt>>()
      .kernel<outer_kernel>()
      .alias("aten::outer");
  library
      .define("aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
      .shape<addr_shape<Size>, addr_shape<SymInt>>()
      .kernel<addr_kernel>();
  library.define("aten::kron(Tensor self, Tensor other) -> Tensor")
      .shape<kron_shape<Size>, kron_shape<SymInt>>()
      .kernel<kron_kernel>()
      .composite<kron_parts>();
  library.define("aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor")
      .composite<linalg_vecdot>();
}

}  // namespace flambeau::ops
