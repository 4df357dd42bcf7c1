// Parts of a tensor, and elements shown several times: slices, diagonals, windows, expansions.
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> select_shape(const Info<N>& self, Size dim, N index) {
  return select_info(self, dim, index);
}

template <typename N>
Info<N> slice_shape(const Info<N>& self, Size dim, std::optional<N> start, std::optional<N> end, N step) {
  return slice_info(self, dim, start, end, step);
}

template <typename N>
Info<N> narrow_shape(const Info<N>& self, Size dim, N start, N length) {
  return narrow_info(self, dim, start, length);
}

Tensor narrow_tensor(const Tensor& self, Size dim, const Tensor& start, Size length) {
  if (start.dim() != 0 || !is_integral(start.dtype()) || start.dtype() == DType::kBool) {
    fail_view("start must be an 0-dim integral Tensor.");
  }
  return viewed(self, narrow_info(info_of(self), dim, item(start).to_int(), length));
}

template <typename N>
Info<N> diagonal_shape(const Info<N>& self, Size offset, Size dim1, Size dim2) {
  return diagonal_info(self, offset, dim1, dim2);
}

template <typename N>
Info<N> unfold_shape(const Info<N>& self, Size dimension, Size size, Size step) {
  const size_t d = wrap_dim(dimension, self.dim());
  const N whole = self.dim() == 0 ? N(1) : self.sizes[d];
  if (size < 0) fail_view("size is " + number_text(size) + " but must be >= 0");
  if (N(size) > whole) {
    fail_view("maximum size for tensor at dimension " + number_text(static_cast<int64_t>(d)) + " is " +
              number_text(whole) + " but size is " + number_text(size));
  }
  if (step <= 0) fail_view("step is " + number_text(step) + " but must be > 0");
  Info<N> info = self;
  info.sizes.push_back(size);
  info.strides.push_back(self.dim() == 0 ? N(1) : self.strides[d]);
  if (self.dim() > 0) {
    info.sizes[d] = floor_div(whole - N(size), N(step)) + N(1);
    info.strides[d] = stride_times(self.strides[d], N(step));
  }
  return info;
}

template <typename N>
Info<N> expand_shape(const Info<N>& self, std::span<const N> size, bool) {
  return expand_info(self, size);
}

template <typename N>
Info<N> expand_as_shape(const Info<N>& self, const Info<N>& other) {
  return expand_info(self, other.sizes.span());
}

template <typename N>
Info<N> broadcast_to_shape(const Info<N>& self, std::span<const N> size) {
  return expand_info(self, size);
}

template <typename N>
Info<N> as_strided_shape(const Info<N>& self, std::span<const N> size, std::span<const N> stride,
                         std::optional<N> storage_offset) {
  if (size.size() != stride.size()) fail_view("mismatch in length of strides and shape");
  Info<N> info = self;
  info.sizes = ShortList<N>(size);
  info.strides = ShortList<N>(stride);
  if (storage_offset) info.offset = *storage_offset;
  return info;
}

Tensor as_strided(const Tensor& self, std::span<const Size> size, std::span<const Size> stride,
                  std::optional<Size> storage_offset) {
  return checked_view(self, size, stride, storage_offset.value_or(self.offset()));
}

// ---- as other operators

Tensor narrow_parts(Context& c, const Tensor& self, Size dim, SymInt start, SymInt length) {
  return call(c, "aten::slice.Tensor", self, dim, start, start + length);
}
Tensor expand_as_parts(Context& c, const Tensor& self, const Tensor& other) {
  return call(c, "aten::expand", self, sizes_of(other));
}
Tensor broadcast_to_parts(Context& c, const Tensor& self, std::span<const SymInt> size) {
  return call(c, "aten::expand", self, size);
}
Tensor diagonal_copy(Context& c, const Tensor& self, Size offset, Size dim1, Size dim2) {
  return parts::packed(c, call(c, "aten::diagonal", self, offset, dim1, dim2));
}

// ---- inverses
Tensor select_inverse(Context& context, const Tensor& value, size_t, const Tensor& base, const Value& dim,
                      const Value& index) {
  return call(context, "aten::select_scatter", base, value, dim, index);
}
Tensor slice_inverse(Context& context, const Tensor& value, size_t, const Tensor& base, const Value& dim,
                     const Value& start, const Value& end, const Value& step) {
  return call(context, "aten::slice_scatter", base, value, dim, start, end, step);
}
Tensor diagonal_inverse(Context& context, const Tensor& value, size_t, const Tensor& base,
                        const Value& offset, const Value& dim1, const Value& dim2) {
  return call(context, "aten::diagonal_scatter", base, value, offset, dim1, dim2);
}
Tensor as_strided_inverse(Context& context, const Tensor& value, size_t, const Tensor& base,
                          const Value& size, const Value& stride, const Value& offset) {
  return call(context, "aten::as_strided_scatter", base, value, size, stride, offset);
}

// Where data decides where it begins or ends, or how long the whole is, its length is a number of its own.
std::optional<Info<SymInt>> slice_data_shape(DataNumbers& data, const Info<SymInt>& self, Size dim,
                                             std::optional<SymInt> start, std::optional<SymInt> end,
                                             SymInt step) {
  const size_t d = wrap_dim(dim, self.dim());
  if (self.dim() == 0) return {};
  const SymInt& size = self.sizes[d];
  if (end && end->is_literal() && end->literal() == INT64_MAX) end = {};
  const auto is_unknown = [&](const std::optional<SymInt>& bound) {
    return bound && (data.is_from_data(*bound) || data.is_from_data(size)) && !data.is_within(*bound, size);
  };
  if (!is_unknown(start) && !is_unknown(end)) return {};
  const bool is_shorter = end && end->is_literal() && end->literal() >= 0 && !size.is_literal();
  const bool is_front = !start || (start->is_literal() && start->literal() == 0);
  Info<SymInt> info = self;
  if (is_shorter && is_front && step.is_literal() && step.literal() == 1) {
    info.sizes[d] = min(*end, size);
    return info;
  }
  info.sizes[d] = data.size(is_shorter ? *end : size);
  if (start && (data.is_from_data(*start) || is_unknown(start))) info.offset = data.size();
  info.strides[d] = self.strides[d] * step;
  return info;
}

}  // namespace

void define_slice(Library& library) {
  library.define("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)")
      .view<select_shape<Size>, select_shape<SymInt>>()
      .inverse<select_inverse>();
  library
      .define(
          "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
          "step=1) -> Tensor(a)")
      .view<slice_shape<Size>, slice_shape<SymInt>>()
      .inverse<slice_inverse>()
      .data_shape<slice_data_shape>();
  library.define("aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)")
      .view<narrow_shape<Size>, narrow_shape<SymInt>>()
      .composite<narrow_parts>();
  library.define("aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)")
      .function<narrow_tensor>();
  library.define("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)")
      .view<diagonal_shape<Size>, diagonal_shape<SymInt>>()
      .inverse<diagonal_inverse>();
  library.define("aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)")
      .view<diagonal_shape<Size>, diagonal_shape<SymInt>>()
      .alias("aten::diagonal");
  library.define("aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor")
      .core_decomposition<diagonal_copy>();
  library.define("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)")
      .view<unfold_shape<Size>, unfold_shape<SymInt>>()
      .is(Trait::kPrimitiveView);
  library.define("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)")
      .view<expand_shape<Size>, expand_shape<SymInt>>()
      .is(Trait::kPrimitiveView);
  library.define("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)")
      .view<expand_as_shape<Size>, expand_as_shape<SymInt>>()
      .composite<expand_as_parts>();
  library.define("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)")
      .view<broadcast_to_shape<Size>, broadcast_to_shape<SymInt>>()
      .composite<broadcast_to_parts>();
  library
      .define(
          "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> "
          "Tensor(a)")
      .shape<as_strided_shape<Size>, as_strided_shape<SymInt>>()
      .function<as_strided>()
      .inverse<as_strided_inverse>();
  library
      .define(
          "aten::as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) "
          "-> "
          "Tensor(a!)")
      .shape<as_strided_shape<Size>, as_strided_shape<SymInt>>()
      .function<as_strided>();
}

}  // namespace flambeau::ops
