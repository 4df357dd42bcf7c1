// Copies: clone, copy, and changes of type.
#include "flambeau/ops/elementwise.h"
#include "flambeau/ops/library.h"
#include "flambeau/ops/strides.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> clone_shape(const Info<N>& self, std::optional<MemoryFormat> format) {
  return {.dtype = self.dtype,
          .sizes = self.sizes,
          .strides = like_strides(self, format.value_or(MemoryFormat::kPreserve)),
          .device = self.device};
}

void clone_kernel(Context& context, const Tensor& self, std::optional<MemoryFormat>, Tensor& out) {
  copy_into(context, self, out);
}

Tensor copy_in_place(Context& context, const Tensor& self, const Tensor& src, bool) {
  copy_into(context, src, self);
  return self;
}

}  // namespace

void define_copy(Library& library) {
  library.define("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
      .shape<clone_shape<int64_t>, clone_shape<SymInt>>()
      .kernel<clone_kernel>();
  library.define("aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)")
      .function<copy_in_place>();
}

}  // namespace flambeau::ops
