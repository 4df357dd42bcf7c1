// Elements in another order along dimensions: flip, rot90.
#include <fmt/format.h>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> flip_shape(const Info<N>& self, std::span<const Size> dims) {
  ShortList<int64_t> seen(self.dim() + 1, 0);
  for (const int64_t dim : dims) {
    const size_t d = wrap_dim(dim, self.dim());
    if (seen[d]++ != 0) fail_view(fmt::format("dim {} appears multiple times in the list of dims", d));
  }
  return {.dtype = self.dtype,
          .sizes = self.sizes,
          .strides = like_strides(self, MemoryFormat::kPreserve),
          .device = self.device};
}

void flip_kernel(Context& context, const Tensor& self, std::span<const Size> dims, Tensor& out) {
  Info<Size> from = info_of(self);
  for (const int64_t dim : dims) {
    if (self.dim() == 0) break;
    const size_t d = wrap_dim(dim, self.dim());
    from.offset += (from.sizes[d] - 1) * from.strides[d];
    from.strides[d] = -from.strides[d];
  }
  copy_into(context, viewed(self, from), out);
}

Tensor fliplr(Context& context, const Tensor& self) {
  if (rank_of(self) < 2) fail_view("Input must be >= 2-d.");
  return call(context, "aten::flip", self, Dims{1});
}

Tensor flipud(Context& context, const Tensor& self) {
  if (rank_of(self) < 1) fail_view("Input must be >= 1-d.");
  return call(context, "aten::flip", self, Dims{0});
}

Tensor rot90(Context& context, const Tensor& self, Size k, std::span<const Size> dims) {
  if (dims.size() != 2) {
    fail_view(fmt::format("expected total rotation dims == 2, but got dims = {}", dims.size()));
  }
  const size_t rank = rank_of(self);
  if (rank < 2) fail_view(fmt::format("expected total dims >= 2, but got total dims = {}", rank));
  const auto dim0 = static_cast<int64_t>(wrap_dim(dims[0], rank));
  const auto dim1 = static_cast<int64_t>(wrap_dim(dims[1], rank));
  if (dim0 == dim1) {
    fail_view(fmt::format("expected rotation dims to be different, but got dim0 = {} and dim1 = {}", dims[0],
                          dims[1]));
  }
  switch (modulo(k, int64_t{4})) {
    case 1:
      return call(context, "aten::transpose.int", call(context, "aten::flip", self, Dims{dim1}), dim0, dim1);
    case 2:
      return call(context, "aten::flip", self, Dims{dim0, dim1});
    case 3:
      return call(context, "aten::transpose.int", call(context, "aten::flip", self, Dims{dim0}), dim0, dim1);
    default:
      return call(context, "aten::clone", self, MemoryFormat::kContiguous);
  }
}

}  // namespace

void define_flip(Library& library) {
  library.define("aten::flip(Tensor self, int[] dims) -> Tensor")
      .shape<flip_shape<Size>, flip_shape<SymInt>>()
      .kernel<flip_kernel>();
  library.define("aten::fliplr(Tensor self) -> Tensor").composite<fliplr>();
  library.define("aten::flipud(Tensor self) -> Tensor").composite<flipud>();
  library.define("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor")
      .core_decomposition<rot90>();
}

}  // namespace flambeau::ops
