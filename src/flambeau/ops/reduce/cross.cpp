// The cross product of vectors.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::ops {
namespace {

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

}  // namespace

void define_cross(Library& library) {
  library.define("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor")
      .shape<cross_shape<Size>, cross_shape<SymInt>>()
      .kernel<cross_kernel>();
  library.define("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor").composite<cross>();
}

}  // namespace flambeau::ops
