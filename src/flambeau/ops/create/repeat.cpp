// Elements repeated: the whole tensor, or each element by itself.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> repeat_info(const Info<N>& self, std::span<const N> repeats) {
  if (repeats.size() < self.dim()) {
    fail_view("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  }
  ShortList<N> sizes(repeats);
  const size_t shift = repeats.size() - self.dim();
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < N(0)) {
      fail_view("Trying to create tensor with negative dimension " + number_text(repeats[d]) + ": " +
                sizes_text(repeats));
    }
    if (d >= shift) sizes[d] = repeats[d] * self.sizes[d - shift];
  }
  return contiguous(self.dtype, std::move(sizes), self.device);
}

template <typename N>
Info<N> repeat_shape(const Info<N>& self, std::span<const N> repeats) {
  return repeat_info(self, repeats);
}

// The result with two dimensions for each: which repetition, and where in it.
void repeat_kernel(Context& context, const Tensor& self, std::span<const Size> repeats, Tensor& out) {
  const size_t shift = repeats.size() - self.dim();
  Geometry from;
  Geometry to;
  from.offset = self.offset();
  to.offset = out.offset();
  for (size_t d = 0; d < repeats.size(); ++d) {
    const int64_t size = d < shift ? 1 : self.sizes()[d - shift];
    from.sizes.push_back(1);
    from.strides.push_back(0);
    to.sizes.push_back(repeats[d]);
    to.strides.push_back(size * out.strides()[d]);
    if (d < shift) continue;
    from.sizes.push_back(size);
    from.strides.push_back(self.strides()[d - shift]);
    to.sizes.push_back(size);
    to.strides.push_back(out.strides()[d]);
  }
  copy_into(context, self.with_geometry(std::move(from)), out.with_geometry(std::move(to)));
}

// Repeats for leading dimensions that are not given are 1.
Tensor tile(Context& context, const Tensor& self, std::span<const SymInt> dims) {
  SymIntList repeats = dims;
  while (static_cast<int64_t>(repeats.size()) < rank_of(self)) repeats = inserted(repeats, 0, 1);
  return call(context, "aten::repeat", self, repeats);
}

// ---- each element by itself
template <typename N>
Info<N> repeat_interleave_shape(const Info<N>& self, N repeats, std::optional<Size> dim,
                                std::optional<N> output_size) {
  if (repeats < N(0)) fail_view("Repeats must be non-negative");
  ShortList<N> sizes = self.sizes;
  size_t d = 0;
  if (dim) {
    d = wrap_dim(*dim, self.dim());
    if (self.dim() == 0) sizes.push_back(1);
  } else {
    sizes.clear();
    sizes.push_back(self.element_count());
  }
  const N total = sizes[d] * repeats;
  if (output_size && !(*output_size == total)) {
    fail_view("repeat_interleave: Invalid output_size, expected " + number_text(total) + " but got " +
              number_text(*output_size));
  }
  sizes[d] = total;
  return contiguous(self.dtype, std::move(sizes), self.device);
}

void repeat_interleave_kernel(Context& context, const Tensor& self, Size repeats, std::optional<Size> dim,
                              std::optional<Size>, Tensor& out) {
  Geometry from = self.geometry();
  Geometry to = out.geometry();
  size_t d = dim ? wrap_dim(*dim, self.dim()) : self.dim() - (self.dim() > 0 ? 1 : 0);
  if (!dim || self.dim() == 0) {  // row-major, so the last dimension is the one that repeats
    to.sizes = self.sizes();
    if (self.dim() == 0) {
      to.sizes.push_back(1);
      from.sizes.push_back(1);
      from.strides.push_back(0);
    }
    to.sizes.back() = repeats * to.sizes.back();
    to.strides = contiguous_strides(to.sizes);
  }
  to.sizes[d] = from.sizes[d];
  to.sizes.insert(d + 1, repeats);
  to.strides.insert(d + 1, to.strides[d]);
  to.strides[d] = to.strides[d] * repeats;
  from.sizes.insert(d + 1, 1);
  from.strides.insert(d + 1, 0);
  copy_into(context, self.with_geometry(std::move(from)), out.with_geometry(std::move(to)));
}

Tensor repeat_interleave_parts(Context& c, const Tensor& self, SymInt repeats, std::optional<Size> given_dim,
                               std::optional<SymInt>) {
  const Tensor input = given_dim ? self : call(c, "aten::flatten.using_ints", self);
  const int64_t dim = given_dim ? wrapped_dim(*given_dim, rank_of(self)) : 0;
  const SymIntList sizes = inserted(sizes_of(input), dim + 1, repeats);
  const Tensor wide = call(c, "aten::expand", call(c, "aten::unsqueeze", input, dim + 1), sizes);
  return call(c, "aten::flatten.using_ints", parts::packed(c, wide), dim, dim + 1);
}

// The index of each element, as often as it is to be repeated.
Tensor repeat_indices(Context& context, const Tensor& repeats, std::optional<Size> output_size) {
  if (repeats.dim() != 1) fail_view("repeat_interleave only accept 1D vector as repeat");
  if (repeats.dtype() != DType::kInt64 && repeats.dtype() != DType::kInt32) {
    fail_view("repeats has to be Long or Int tensor");
  }
  const auto count = static_cast<size_t>(repeats.element_count());
  ScratchVector<int64_t> times_each(count);
  if (count > 0) {
    load_packed(repeats.dtype(), repeats.data(), repeats.byte_stride(0), count, DType::kInt64,
                times_each.data());
  }
  int64_t total = 0;
  for (const int64_t number : times_each) {
    if (number < 0) fail_view("repeats can not be negative");
    if (__builtin_add_overflow(total, number, &total)) fail_view("the repeats are too many");
  }
  if (output_size && *output_size != total) {
    fail_view(
        fmt::format("allocated size does not match required size: the repeats sum to {}, output_size is {}",
                    total, *output_size));
  }
  Tensor out = context.allocate(contiguous(repeats.dtype(), Dims{total}, repeats.device()));
  const auto write = [&]<typename T>(T* to) {
    for (size_t i = 0; i < count; ++i) to = std::fill_n(to, times_each[i], static_cast<T>(i));
  };
  if (total > 0) {
    if (repeats.dtype() == DType::kInt64) {
      write(out.mutable_data<int64_t>());
    } else {
      write(out.mutable_data<int32_t>());
    }
  }
  return out;
}

Tensor repeat_interleave_tensor(Context& context, const Tensor& self, const Tensor& repeats,
                                std::optional<Size> dim, std::optional<Size> output_size) {
  if (dim && self.dim() == 0) {
    fail_view(fmt::format("Dimension specified as {} but tensor has no dimensions", *dim));
  }
  const Tensor input = dim ? self : call(context, "aten::flatten.using_ints", self);
  const int64_t along = dim.value_or(0);
  const size_t d = wrap_dim(along, input.dim());
  const int64_t size = input.sizes()[d];
  Tensor each = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.sizes()[0] == 1)) {
    each = expanded(call(context, "aten::reshape", repeats, Dims{1}), Dims{size});
  } else if (repeats.dim() != 1) {
    fail_view("repeats must be 0-dim or 1-dim tensor");
  } else if (repeats.sizes()[0] != size) {
    fail_view(
        fmt::format("repeats must have the same size as input along dim, but got repeats.size(0) = {} and "
                    "input.size({}) = {}",
                    repeats.sizes()[0], along, size));
  }
  const Tensor indices = call(context, "aten::repeat_interleave.Tensor", each, output_size);
  return call(context, "aten::index_select", input, along, indices);
}

DataShape repeat_indices_data_shape(DataNumbers& data, const Info<SymInt>& repeats,
                                    std::optional<SymInt> output_size) {
  if (repeats.dim() != 1) fail_view("repeat_interleave only accept 1D vector as repeat");
  return contiguous<SymInt>(repeats.dtype, {output_size ? *output_size : data.size()}, repeats.device);
}
DataShape repeat_interleave_data_shape(DataNumbers& data, const Info<SymInt>& self,
                                       const Info<SymInt>& repeats, std::optional<Size> dim,
                                       std::optional<SymInt> output_size) {
  if (dim && self.dim() == 0) {
    fail_view(fmt::format("Dimension specified as {} but tensor has no dimensions", *dim));
  }
  SymIntList sizes = dim ? self.sizes : SymIntList{self.element_count()};
  const size_t d = dim ? wrap_dim(*dim, sizes.size()) : 0;
  const bool is_one = repeats.dim() == 0 || (repeats.dim() == 1 && repeats.sizes[0] == SymInt(1));
  if (!is_one && !(repeats.dim() == 1 && repeats.sizes[0] == sizes[d])) {
    fail_view("repeats must have the same size as input along dim");
  }
  sizes[d] = output_size ? *output_size : data.size();
  return contiguous<SymInt>(self.dtype, std::move(sizes), self.device);
}

}  // namespace

void define_repeat(Library& library) {
  library.define("aten::repeat(Tensor self, SymInt[] repeats) -> Tensor")
      .shape<repeat_shape<Size>, repeat_shape<SymInt>>()
      .kernel<repeat_kernel>();
  library.define("aten::tile(Tensor self, SymInt[] dims) -> Tensor").composite<tile>();
  library
      .define(
          "aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? "
          "output_size=None) -> Tensor")
      .shape<repeat_interleave_shape<Size>, repeat_interleave_shape<SymInt>>()
      .kernel<repeat_interleave_kernel>()
      .composite<repeat_interleave_parts>();
  library.define("aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor")
      .function<repeat_indices>()
      .data_shape<repeat_indices_data_shape>();
  library
      .define(
          "aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? "
          "output_size=None) -> Tensor")
      .function<repeat_interleave_tensor>()
      .data_shape<repeat_interleave_data_shape>();
}

}  // namespace flambeau::ops
