// Other sizes for the same elements: view, reshape, flatten.
#include "flambeau/base/error.h"
#include "flambeau/ops/call.h"
#include "flambeau/ops/library.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> view_shape(const Info<N>& self, std::span<const N> size) {
  return view_info(self, size);
}

template <typename N>
Info<N> view_as_shape(const Info<N>& self, const Info<N>& other) {
  return view_info(self, other.sizes.span());
}

template <typename N>
Info<N> reshape_shape(const Info<N>& self, std::span<const N> shape) {
  return reshape_info(self, shape);
}

template <typename N>
Info<N> reshape_as_shape(const Info<N>& self, const Info<N>& other) {
  return reshape_info(self, other.sizes.span());
}

template <typename N>
Info<N> flatten_shape(const Info<N>& self, Size start_dim, Size end_dim) {
  return flatten_info(self, start_dim, end_dim);
}

// A copy unless it is row-major, even where strides would allow a view.
template <typename N>
Info<N> ravel_shape(const Info<N>& self) {
  const N flat[] = {self.element_count()};
  const Info<N> packed = is_contiguous(self) ? self : contiguous(self.dtype, self.sizes, self.device);
  return view_info(packed, std::span<const N>(flat));
}

template <typename N>
Info<N> reshape_alias_shape(const Info<N>& self, std::span<const N> size, std::span<const N> stride) {
  if (size.size() != stride.size()) fail_view("_reshape_alias: as many sizes as strides are needed");
  Info<N> info = self;
  info.sizes = ShortList<N>(size);
  info.strides = ShortList<N>(stride);
  return info;
}

template <typename N>
Info<N> unflatten_shape(const Info<N>& self, Size dim, std::span<const N> sizes) {
  const size_t d = wrap_dim(dim, self.dim());
  if (sizes.empty()) fail_view("unflatten: sizes must be non-empty");
  if (self.dim() == 0) fail_view("unflatten: a tensor without dimensions has none to unflatten");
  bool is_inferred = false;
  N known = 1;
  for (const N& size : sizes) {
    if (size == N(-1)) {
      is_inferred = true;
    } else {
      known *= size;
    }
  }
  const N& whole = self.sizes[d];
  if (is_inferred ? known == N(0) || !(modulo(whole, known) == N(0)) : !(known == whole)) {
    fail_view("unflatten: Provided sizes " + sizes_text(sizes) + " don't multiply up to the size of dim " +
              number_text(static_cast<int64_t>(d)) + " (" + number_text(whole) + ") in the input tensor");
  }
  const ShortList<N> inner = infer_sizes(sizes, whole);
  ShortList<N> shape;
  for (size_t i = 0; i < d; ++i) shape.push_back(self.sizes[i]);
  for (const N& size : inner) shape.push_back(size);
  for (size_t i = d + 1; i < self.dim(); ++i) shape.push_back(self.sizes[i]);
  return view_info(self, shape.span());
}

// The view that the rule describes, of the tensor or, where strides do not allow one, of a copy of it.
Tensor reshaped(Context& context, const Tensor& self, Info<Size> info) {
  if (self.is_contiguous() || view_strides(info_of(self), info.sizes)) return viewed(self, std::move(info));
  return viewed(call(context, "aten::clone", self, MemoryFormat::kContiguous), std::move(info));
}

Tensor reshape_alias(const Tensor& self, std::span<const Size> size, std::span<const Size> stride) {
  return checked_view(self, size, stride, self.offset());
}

Tensor reshape(Context& context, const Tensor& self, std::span<const Size> shape) {
  return reshaped(context, self, reshape_info(info_of(self), shape));
}

Tensor reshape_as(Context& context, const Tensor& self, const Tensor& other) {
  return reshape(context, self, other.sizes());
}

Tensor flatten(Context& context, const Tensor& self, Size start_dim, Size end_dim) {
  return reshaped(context, self, flatten_info(info_of(self), start_dim, end_dim));
}

Tensor ravel(Context& context, const Tensor& self) {
  Info<Size> info = ravel_shape(info_of(self));
  return self.is_contiguous() ? viewed(self, std::move(info))
                              : viewed(call(context, "aten::clone", self, MemoryFormat::kContiguous), info);
}

Tensor view_inverse(Context& context, const Tensor& value, size_t, const Info<SymInt>& base) {
  return call(context, "aten::view", value, Value(base.sizes));
}

}  // namespace

void define_reshape(Library& library) {
  library.define("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)")
      .view<view_shape<Size>, view_shape<SymInt>>()
      .is(Trait::kReshapes)
      .inverse<view_inverse>();
  library.define("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)")
      .view<view_as_shape<Size>, view_as_shape<SymInt>>()
      .is(Trait::kReshapes);
  library.define("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor")
      .view<view_shape<Size>, view_shape<SymInt>>()
      .is(Trait::kReshapes);
  library.define("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)")
      .shape<reshape_alias_shape<Size>, reshape_alias_shape<SymInt>>()
      .function<reshape_alias>()
      .inverse<view_inverse>();
  library.define("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)")
      .view<unflatten_shape<Size>, unflatten_shape<SymInt>>()
      .is(Trait::kReshapes);
  library.define("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)")
      .shape<reshape_shape<Size>, reshape_shape<SymInt>>()
      .decomposition<reshape>()
      .is(Trait::kReshapes);
  library.define("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)")
      .shape<reshape_as_shape<Size>, reshape_as_shape<SymInt>>()
      .decomposition<reshape_as>()
      .is(Trait::kReshapes);
  library.define("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)")
      .shape<flatten_shape<Size>, flatten_shape<SymInt>>()
      .decomposition<flatten>()
      .is(Trait::kReshapes);
  library.define("aten::ravel(Tensor(a) self) -> Tensor(a)")
      .shape<ravel_shape<Size>, ravel_shape<SymInt>>()
      .decomposition<ravel>()
      .is(Trait::kReshapes);
}

}  // namespace flambeau::ops
