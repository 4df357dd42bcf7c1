// Other sizes for the same elements: view, reshape, flatten.
#include <algorithm>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/at_once.h"
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

Tensor reshape_alias(const Tensor& self, std::span<const Size> size, std::span<const Size> stride) {
  return checked_view(self, size, stride, self.offset());
}

// ---- as other operators

Tensor reshape_at_once(Context& context, const Tensor& self, const ShortList<Size>& shape) {
  Info<Size> info = info_of(self);
  ShortList<Size> sizes = infer_sizes<Size>(shape.span(), info.element_count());
  if (std::optional<ShortList<Size>> strides = view_strides(info, sizes)) {
    info.sizes = std::move(sizes);
    info.strides = std::move(*strides);
    return viewed(self, info);
  }
  const Tensor packed = context.allocate(contiguous<Size>(self.dtype(), info.sizes, self.device()));
  copy_into(context, self, packed);
  return viewed(packed, contiguous<Size>(self.dtype(), sizes, self.device()));
}

// A view where there can be one, else of a copy.
Tensor reshape(Context& context, const Tensor& self, std::span<const SymInt> shape) {
  if (is_done_at_once(context, self)) {
    ShortList<Size> numbers;
    for (const SymInt& size : shape) numbers.push_back(fixed(size));
    return reshape_at_once(context, self, numbers);
  }
  if (is_row_major(self)) return call(context, "aten::view", self, shape);
  SymIntList sizes = shape;
  if (std::ranges::any_of(shape, [](const SymInt& size) { return is_literally(size, -1); }))
    sizes = infer_sizes(shape, count_of(self));
  if (can_view(context, self, sizes)) return call(context, "aten::view", self, sizes);
  return call(context, "aten::_unsafe_view", parts::packed(context, self), sizes);
}

Tensor reshape_as(Context& context, const Tensor& self, const Tensor& other) {
  return reshape(context, self, sizes_of(other));
}

Tensor flatten(Context& context, const Tensor& self, Size start_dim, Size end_dim) {
  if (is_done_at_once(context, self)) {
    const Info<Size> wanted = flatten_info(info_of(self), start_dim, end_dim);
    return wanted.sizes == info_of(self).sizes ? self : reshape_at_once(context, self, wanted.sizes);
  }
  const SymIntList sizes = sizes_of(self);
  const size_t start = wrap_dim(start_dim, sizes.size());
  const size_t end = wrap_dim(end_dim, sizes.size());
  if (start > end) fail_view("flatten() has invalid args: start_dim cannot come after end_dim");
  if (sizes.empty()) return reshape(context, self, SymIntList{SymInt(1)});
  if (start == end) return self;
  SymIntList shape;
  SymInt inner = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d < start || d > end) {
      shape.push_back(sizes[d]);
    } else {
      inner *= sizes[d];
      if (d == end) shape.push_back(inner);
    }
  }
  return reshape(context, self, shape);
}

Tensor ravel(Context& context, const Tensor& self) {
  return call(context, "aten::view", call(context, "aten::contiguous", self), Dims{-1});
}

Tensor unflatten(Context& context, const Tensor& self, Size dim, std::span<const SymInt> sizes) {
  const int64_t d = wrapped_dim(dim, rank_of(self));
  SymInt known = 1;
  for (const SymInt& size : sizes) {
    if (!is_literally(size, -1)) known *= size;
  }
  SymIntList shape;
  for (int64_t i = 0; i < rank_of(self); ++i) {
    const SymInt whole = size_of(self, i);
    if (i != d) {
      shape.push_back(whole);
      continue;
    }
    for (const SymInt& size : sizes) shape.push_back(is_literally(size, -1) ? floor_div(whole, known) : size);
  }
  return call(context, "aten::view", self, shape);
}

Tensor view_as(Context& context, const Tensor& self, const Tensor& other) {
  return call(context, "aten::view", self, sizes_of(other));
}
Tensor unsafe_view_parts(Context& context, const Tensor& self, std::span<const SymInt> size) {
  return call(context, "aten::view", self, size);
}
Tensor reshape_alias_parts(Context& context, const Tensor& self, std::span<const SymInt> size,
                           std::span<const SymInt>) {
  return call(context, "aten::view", self, size);
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
      .composite<view_as>()
      .is(Trait::kReshapes);
  library.define("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor")
      .view<view_shape<Size>, view_shape<SymInt>>()
      .core_decomposition<unsafe_view_parts>()
      .is(Trait::kReshapes);
  library.define("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)")
      .shape<reshape_alias_shape<Size>, reshape_alias_shape<SymInt>>()
      .function<reshape_alias>()
      .core_decomposition<reshape_alias_parts>()
      .inverse<view_inverse>();
  library.define("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)")
      .view<unflatten_shape<Size>, unflatten_shape<SymInt>>()
      .composite<unflatten>()
      .is(Trait::kReshapes);
  library.define("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)")
      .shape<reshape_shape<Size>, reshape_shape<SymInt>>()
      .composite<reshape>()
      .is(Trait::kReshapes);
  library.define("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)")
      .shape<reshape_as_shape<Size>, reshape_as_shape<SymInt>>()
      .composite<reshape_as>()
      .is(Trait::kReshapes);
  library.define("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)")
      .shape<flatten_shape<Size>, flatten_shape<SymInt>>()
      .composite<flatten>()
      .is(Trait::kReshapes);
  library.define("aten::ravel(Tensor(a) self) -> Tensor(a)")
      .shape<ravel_shape<Size>, ravel_shape<SymInt>>()
      .composite<ravel>()
      .is(Trait::kReshapes);
}

}  // namespace flambeau::ops
