// One value everywhere, in a fresh tensor or in place.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> fill_info(const Info<N>& self) {
  return {.dtype = self.dtype,
          .sizes = self.sizes,
          .strides = like_strides(self, MemoryFormat::kPreserve),
          .device = self.device};
}

template <typename N>
Info<N> fill_scalar_shape(const Info<N>& self, const Value&) {
  return fill_info(self);
}
Body fill_scalar_body(const Tensor&, Scalar value, const Tensor& out) { return copy_body(value, out); }

template <typename N>
Info<N> fill_tensor_shape(const Info<N>& self, const Info<N>& value) {
  if (value.dim() != 0) {
    fail_view(fmt::format("fill only supports 0-dimension value tensor but got tensor with {} dimensions.",
                          value.dim()));
  }
  return fill_info(self);
}
Body fill_tensor_body(const Tensor&, const Tensor& value, const Tensor& out) { return copy_body(value, out); }

template <typename N>
Info<N> zero_shape(const Info<N>& self) {
  return fill_info(self);
}
Body zero_body(const Tensor&, const Tensor& out) { return copy_body(Scalar(0), out); }

// In PyTorch the argument itself grows; here only what it is called afterwards can. So new memory is no loss
// unless a view of the old one is written to later, which exported programs do not do.
Tensor resize_in_place(Context& context, const Tensor& self, std::span<const Size> size,
                       std::optional<MemoryFormat> format) {
  if (self.sizes().span().size() == size.size() && std::equal(size.begin(), size.end(), self.sizes().begin()))
    return self;
  Info<Size> info = contiguous<Size>(self.dtype(), size, self.device());
  if (format == MemoryFormat::kChannelsLast || format == MemoryFormat::kChannelsLast3d) {
    require_rank_of(*format, size.size());
    info.strides = channels_last_strides(info.sizes);
  }
  info.offset = self.offset();
  const int64_t needed = storage_extent({info.sizes, info.strides, info.offset});
  const auto held = static_cast<int64_t>(self.storage()->size() / self.element_size());
  if (needed <= held) return viewed(self, info);
  info.offset = 0;
  Tensor out = context.allocate(info);
  fill(context, out, 0);
  const int64_t kept = std::min(held - self.offset(), out.element_count());
  copy_into(context, checked_view(self, Dims{kept}, Dims{1}, self.offset()),
            checked_view(out, Dims{kept}, Dims{1}, 0));
  return out;
}

// ---- as other operators
Tensor fill_parts(Context& c, const Tensor& self, const Value& value) {
  return call_with(c, "aten::full_like", {self, value}, {{"pin_memory", false}});
}
Tensor fill_with_tensor_parts(Context& c, const Tensor& self, const Tensor& value) {
  return call(c, "aten::copy", self, value);
}
Tensor zero_parts(Context& c, const Tensor& self) { return fill_parts(c, self, 0); }

}  // namespace

void define_fill(Library& library) {
  // Written at their place, the in-place forms need no more than these.
  library.define("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor")
      .shape<fill_scalar_shape<Size>, fill_scalar_shape<SymInt>>()
      .body<fill_scalar_body>()
      .elementwise()
      .core_decomposition<fill_parts>();
  library.define("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor")
      .shape<fill_tensor_shape<Size>, fill_tensor_shape<SymInt>>()
      .body<fill_tensor_body>()
      .elementwise()
      .core_decomposition<fill_with_tensor_parts>();
  library.define("aten::zero(Tensor self) -> Tensor")
      .shape<zero_shape<Size>, zero_shape<SymInt>>()
      .body<zero_body>()
      .elementwise()
      .core_decomposition<zero_parts>();
  library
      .define(
          "aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)")
      .function<resize_in_place>();
}

}  // namespace flambeau::ops
