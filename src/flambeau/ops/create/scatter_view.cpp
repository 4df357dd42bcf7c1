// A copy of a tensor in which one view of it is replaced: slice_scatter and its kin.
#include <fmt/format.h>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/overlap.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> scattered(const Info<N>& self, const Info<N>& part, const Info<N>& src) {
  if (!(part.sizes == src.sizes)) {
    fail_view(
        fmt::format("expected src to have a size equal to the slice of self. src size = {}, slice size = {}",
                    sizes_text(src.sizes), sizes_text(part.sizes)));
  }
  return kept_info(self);
}

void run_scatter(Context& context, const Tensor& self, const Tensor& src, const Tensor& out,
                 const Info<Size>& part) {
  copy_into(context, self, out);
  copy_into(context, src, viewed(out, part));
}

template <typename N>
Info<N> slice_scatter_shape(const Info<N>& self, const Info<N>& src, Size dim, std::optional<N> start,
                            std::optional<N> end, N step) {
  return scattered(self, slice_info(self, dim, start, end, step), src);
}
void slice_scatter_kernel(Context& context, const Tensor& self, const Tensor& src, Size dim,
                          std::optional<Size> start, std::optional<Size> end, Size step, Tensor& out) {
  run_scatter(context, self, src, out, slice_info(info_of(out), dim, start, end, step));
}

template <typename N>
Info<N> select_scatter_shape(const Info<N>& self, const Info<N>& src, Size dim, N index) {
  return scattered(self, select_info(self, dim, index), src);
}
void select_scatter_kernel(Context& context, const Tensor& self, const Tensor& src, Size dim, Size index,
                           Tensor& out) {
  run_scatter(context, self, src, out, select_info(info_of(out), dim, index));
}

template <typename N>
Info<N> diagonal_scatter_shape(const Info<N>& self, const Info<N>& src, Size offset, Size dim1, Size dim2) {
  return scattered(self, diagonal_info(self, offset, dim1, dim2), src);
}
void diagonal_scatter_kernel(Context& context, const Tensor& self, const Tensor& src, Size offset, Size dim1,
                             Size dim2, Tensor& out) {
  run_scatter(context, self, src, out, diagonal_info(info_of(out), offset, dim1, dim2));
}

template <typename N>
Info<N> as_strided_scatter_shape(const Info<N>& self, const Info<N>& src, std::span<const N> size,
                                 std::span<const N>, std::optional<N>) {
  bool is_equal = src.dim() == size.size();
  for (size_t i = 0; is_equal && i < size.size(); ++i) is_equal = src.sizes[i] == size[i];
  if (!is_equal) fail_view("expected src to have a size equal to the slice of self");
  return self;
}
// The view may be of memory that the tensor does not show, so all of the storage is copied.
Tensor as_strided_scatter(Context& context, const Tensor& self, const Tensor& src, std::span<const Size> size,
                          std::span<const Size> stride, std::optional<Size> storage_offset) {
  Tensor out;
  if (has_internal_overlap(self)) {
    out = context.allocate(kept_info(info_of(self)));
    copy_into(context, self, out);
  } else {
    const auto count = static_cast<int64_t>(self.storage()->size() / self.element_size());
    const Tensor all = self.with_geometry({Dims{count}, Dims{1}, 0});
    const Tensor copy = context.allocate(contiguous(self.dtype(), Dims{count}, self.device()));
    copy_into(context, all, copy);
    out = copy.with_geometry(self.geometry());
  }
  const Tensor part = checked_view(out, size, stride, storage_offset.value_or(out.offset()));
  if (!(part.sizes() == src.sizes())) {
    fail_view(
        fmt::format("expected src to have a size equal to the slice of self. src size = {}, slice size = {}",
                    sizes_text(src.sizes()), sizes_text(part.sizes())));
  }
  copy_into(context, src, part);
  return out;
}

Tensor select_scatter_parts(Context& c, const Tensor& self, const Tensor& src, Size given_dim, SymInt index) {
  const int64_t rank = rank_of(self);
  const int64_t dim = wrapped_dim(given_dim, rank);
  if (index < SymInt(0)) index += size_of(self, dim);
  Dims shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(dim)] = -1;
  const Tensor line = parts::arange(c, 0, size_of(self, dim), {}, self.device());
  const Tensor is_there = call(c, "aten::eq.Scalar", call(c, "aten::view", line, shape), index);
  const Tensor source = call(c, "aten::unsqueeze", src, dim);
  return parts::where(c, is_there, call(c, "aten::expand", source, sizes_of(self)), self);
}

}  // namespace

void define_scatter_view(Library& library) {
  library
      .define(
          "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, "
          "SymInt step=1) -> Tensor")
      .shape<slice_scatter_shape<Size>, slice_scatter_shape<SymInt>>()
      .kernel<slice_scatter_kernel>();
  library.define("aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor")
      .shape<select_scatter_shape<Size>, select_scatter_shape<SymInt>>()
      .kernel<select_scatter_kernel>()
      .core_decomposition<select_scatter_parts>();
  library
      .define(
          "aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor")
      .shape<diagonal_scatter_shape<Size>, diagonal_scatter_shape<SymInt>>()
      .kernel<diagonal_scatter_kernel>();
  library
      .define(
          "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
          "storage_offset=None) -> Tensor")
      .shape<as_strided_scatter_shape<Size>, as_strided_scatter_shape<SymInt>>()
      .function<as_strided_scatter>();
}

}  // namespace flambeau::ops
