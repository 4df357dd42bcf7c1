// The same tensor again, and its bytes as elements of another type.
#include <fmt/format.h>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> same_shape(const Info<N>& self) {
  return self;
}

template <typename N>
Info<N> as_real_info(const Info<N>& self) {
  Info<N> info = self;
  info.dtype = to_real(self.dtype);
  for (N& stride : info.strides) stride *= N(2);
  info.offset *= N(2);
  info.sizes.push_back(2);
  info.strides.push_back(1);
  return info;
}

template <typename N>
Info<N> view_as_real_shape(const Info<N>& self) {
  if (!is_complex(self.dtype)) fail_view("view_as_real is only supported for complex tensors");
  return as_real_info(self);
}

template <typename N>
Info<N> view_as_complex_shape(const Info<N>& self) {
  if (!is_floating(self.dtype) || self.dtype == DType::kBFloat16) {
    fail_view(
        fmt::format("view_as_complex is only supported for half, float and double tensors, but got a tensor "
                    "of scalar type: {}",
                    dtype_word(self.dtype)));
  }
  if (self.dim() == 0) fail_view("Input tensor must have one or more dimensions");
  if (!(self.sizes.back() == N(2))) fail_view("Tensor must have a last dimension of size 2");
  if (!(self.strides.back() == N(1))) fail_view("Tensor must have a last dimension with stride 1");
  if (!(modulo(self.offset, N(2)) == N(0))) {
    fail_view("Tensor must have a storage_offset divisible by 2");
  }
  Info<N> info = self;
  info.dtype = to_complex(self.dtype);
  info.sizes.erase(self.dim() - 1);
  info.strides.erase(self.dim() - 1);
  for (size_t d = 0; d < info.dim(); ++d) {
    if (!(modulo(info.strides[d], N(2)) == N(0))) {
      fail_view("Tensor must have a stride divisible by 2 for all but last dimension");
    }
    info.strides[d] = floor_div(info.strides[d], N(2));
  }
  info.offset = floor_div(info.offset, N(2));
  return info;
}

// One part of complex elements.
template <typename N>
Info<N> real_shape(const Info<N>& self) {
  return is_complex(self.dtype) ? select_info(as_real_info(self), -1, N(0)) : self;
}

template <typename N>
Info<N> imag_shape(const Info<N>& self) {
  if (!is_complex(self.dtype)) {
    fail_view("imag is not implemented for tensors with non-complex dtypes.");
  }
  return select_info(as_real_info(self), -1, N(1));
}

template <typename N>
Info<N> view_dtype_shape(const Info<N>& self, DType dtype) {
  Info<N> info = self;
  info.dtype = dtype;
  const auto from = static_cast<int64_t>(dtype_size(self.dtype));
  const auto to = static_cast<int64_t>(dtype_size(dtype));
  if (from == to) return info;
  const auto fail = [&](const std::string& what) {
    fail_view(fmt::format("self.{} to view {} as {} (different element sizes)", what, dtype_name(self.dtype),
                          dtype_name(dtype)));
  };
  if (self.dim() == 0) fail("dim() cannot be 0");
  if (!(self.strides.back() == N(1))) {
    fail_view(fmt::format("self.stride(-1) must be 1 to view {} as {} (different element sizes), but got {}",
                          dtype_name(self.dtype), dtype_name(dtype), number_text(self.strides.back())));
  }
  const size_t last = self.dim() - 1;
  if (from > to) {
    const N ratio(from / to);
    info.sizes[last] *= ratio;
    for (size_t d = 0; d < last; ++d) info.strides[d] *= ratio;
    info.offset *= ratio;
    return info;
  }
  const N ratio(to / from);
  if (!(modulo(self.sizes[last], ratio) == N(0))) {
    fail("size(-1) must be divisible by " + number_text(ratio));
  }
  if (!(modulo(self.offset, ratio) == N(0))) {
    fail("storage_offset() must be divisible by " + number_text(ratio));
  }
  info.sizes[last] = floor_div(self.sizes[last], ratio);
  for (size_t d = 0; d < last; ++d) {
    if (!(modulo(self.strides[d], ratio) == N(0))) {
      fail(fmt::format("stride({}) must be divisible by {}", d, number_text(ratio)));
    }
    info.strides[d] = floor_div(self.strides[d], ratio);
  }
  info.offset = floor_div(self.offset, ratio);
  return info;
}

Tensor positive(const Tensor& self) {
  if (self.dtype() == DType::kBool) fail_view("The `+` operator, on a bool tensor is not supported.");
  return self;
}

Tensor detach_parts(Context& context, const Tensor& self) { return call(context, "aten::alias", self); }
Tensor itself(Context&, const Tensor& self) { return self; }
std::optional<Tensor> real_parts(Context&, const Tensor& self) {
  return is_complex(self.dtype()) ? std::nullopt : std::optional(self);
}

// ---- inverses
Tensor alias_inverse(Context& context, const Tensor& value, size_t) {
  return call(context, "aten::alias", value);
}
Tensor detach_inverse(Context&, const Tensor& value, size_t) { return value; }
Tensor view_as_real_inverse(Context& context, const Tensor& value, size_t) {
  return call(context, "aten::view_as_complex", value);
}
Tensor view_as_complex_inverse(Context& context, const Tensor& value, size_t) {
  return call(context, "aten::view_as_real", value);
}
Tensor view_dtype_inverse(Context& context, const Tensor& value, size_t, const Tensor& base) {
  return call(context, "aten::view.dtype", value, base.dtype());
}

}  // namespace

void define_alias(Library& library) {
  library.define("aten::alias(Tensor(a) self) -> Tensor(a)")
      .view<same_shape<Size>, same_shape<SymInt>>()
      .inverse<alias_inverse>();
  library.define("aten::detach(Tensor(a) self) -> Tensor(a)")
      .view<same_shape<Size>, same_shape<SymInt>>()
      .core_decomposition<detach_parts>()
      .inverse<detach_inverse>();
  for (const std::string_view schema :
       {"aten::lift_fresh(Tensor(a) self) -> Tensor(a)", "aten::lift(Tensor self) -> Tensor",
        "aten::data(Tensor self) -> Tensor"}) {
    library.define(schema).view<same_shape<Size>, same_shape<SymInt>>();
  }
  for (const std::string_view schema : {"aten::resolve_conj(Tensor(a) self) -> Tensor(a)",
                                        "aten::resolve_neg(Tensor(a) self) -> Tensor(a)"}) {
    library.define(schema).view<same_shape<Size>, same_shape<SymInt>>().composite<itself>();
  }
  library.define("aten::detach_(Tensor(a!) self) -> Tensor(a!)")
      .view<same_shape<Size>, same_shape<SymInt>>()
      .composite<itself>();
  library.define("aten::positive(Tensor(a) self) -> Tensor(a)").function<positive>().composite<itself>();
  library.define("aten::view_as_real(Tensor(a) self) -> Tensor(a)")
      .view<view_as_real_shape<Size>, view_as_real_shape<SymInt>>()
      .inverse<view_as_real_inverse>();
  library.define("aten::view_as_complex(Tensor(a) self) -> Tensor(a)")
      .view<view_as_complex_shape<Size>, view_as_complex_shape<SymInt>>()
      .inverse<view_as_complex_inverse>();
  library.define("aten::real(Tensor(a) self) -> Tensor(a)")
      .view<real_shape<Size>, real_shape<SymInt>>()
      .composite<real_parts>();
  library.define("aten::imag(Tensor(a) self) -> Tensor(a)").view<imag_shape<Size>, imag_shape<SymInt>>();
  library.define("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)")
      .view<view_dtype_shape<Size>, view_dtype_shape<SymInt>>()
      .inverse<view_dtype_inverse>();
}

}  // namespace flambeau::ops
