// The sum of a diagonal.
#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"

namespace flambeau::ops {
namespace {

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

Tensor trace_parts(Context& c, const Tensor& self) {
  return call(c, "aten::sum", call(c, "aten::diagonal_copy", self));
}

}  // namespace

void define_trace(Library& library) {
  library.define("aten::trace(Tensor self) -> Tensor")
      .shape<trace_shape<Size>, trace_shape<SymInt>>()
      .kernel<trace_kernel>()
      .core_decomposition<trace_parts>();
}

}  // namespace flambeau::ops
