// Dimensions in another order, and dimensions of size 1 that come and go.
#include <algorithm>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> permute_shape(const Info<N>& self, std::span<const Size> dims) {
  return permute_info(self, dims);
}

template <typename N>
Info<N> transpose_shape(const Info<N>& self, Size dim0, Size dim1) {
  return transpose_info(self, dim0, dim1);
}

template <typename N>
Info<N> t_shape(const Info<N>& self) {
  if (self.dim() > 2) {
    fail_view("t() expects a tensor with <= 2 dimensions, but self is " +
              number_text(static_cast<int64_t>(self.dim())) + "D");
  }
  return self.dim() < 2 ? self : transpose_info(self, 0, 1);
}

template <typename N>
Info<N> matrix_transpose_shape(const Info<N>& self) {
  if (self.dim() < 2) {
    fail_view("tensor.mT is only supported on matrices or batches of matrices. Got " +
              number_text(static_cast<int64_t>(self.dim())) + "-D tensor.");
  }
  return transpose_info(self, -2, -1);
}

template <typename N>
Info<N> reverse_shape(const Info<N>& self) {
  Info<N> info = self;
  std::reverse(info.sizes.begin(), info.sizes.end());
  std::reverse(info.strides.begin(), info.strides.end());
  return info;
}

// The order of dimensions in which those of `source` stand at the places of `destination`.
Dims moved_order(int64_t dims, std::span<const Size> source, std::span<const Size> destination) {
  if (source.size() != destination.size()) {
    fail_view("movedim: Invalid source or destination dims: source (" + sizes_text(source) +
              " dims) should contain the same number of dims as destination (" + sizes_text(destination) +
              " dims)");
  }
  const auto rank = static_cast<size_t>(dims);
  constexpr int64_t kFree = -1;
  Dims order(rank, kFree);
  Dims is_moved(rank, 0);
  for (size_t i = 0; rank > 0 && i < source.size(); ++i) {
    const size_t from = wrap_dim(source[i], rank);
    const size_t to = wrap_dim(destination[i], rank);
    if (is_moved[from]++ != 0) fail_view("movedim: repeated dim in `source` (" + sizes_text(source) + ")");
    if (order[to] != kFree)
      fail_view("movedim: repeated dim in `destination` (" + sizes_text(destination) + ")");
    order[to] = static_cast<int64_t>(from);
  }
  size_t next = 0;
  for (int64_t& place : order) {
    if (place != kFree) continue;
    while (is_moved[next] != 0) ++next;
    place = static_cast<int64_t>(next++);
  }
  return order;
}

template <typename N>
Info<N> movedim_info(const Info<N>& self, std::span<const Size> source, std::span<const Size> destination) {
  return permute_info(self, moved_order(static_cast<int64_t>(self.dim()), source, destination));
}

template <typename N>
Info<N> movedim_list_shape(const Info<N>& self, std::span<const Size> source,
                           std::span<const Size> destination) {
  return movedim_info(self, source, destination);
}

template <typename N>
Info<N> movedim_shape(const Info<N>& self, Size source, Size destination) {
  return movedim_info(self, std::span(&source, 1), std::span(&destination, 1));
}

template <typename N>
Info<N> squeeze_info(const Info<N>& self, auto&& is_wanted) {
  Info<N> info = self;
  for (size_t d = self.dim(); d-- > 0;) {
    if (!is_wanted(d) || !(self.sizes[d] == N(1))) continue;
    info.sizes.erase(d);
    info.strides.erase(d);
  }
  return info;
}

template <typename N>
Info<N> squeeze_shape(const Info<N>& self) {
  return squeeze_info(self, [](size_t) { return true; });
}

template <typename N>
Info<N> squeeze_dim_shape(const Info<N>& self, Size dim) {
  const size_t wanted = wrap_dim(dim, self.dim());
  return squeeze_info(self, [&](size_t d) { return d == wanted; });
}

template <typename N>
Info<N> squeeze_dims_shape(const Info<N>& self, std::span<const Size> dims) {
  ShortList<int64_t> is_wanted(self.dim() + 1, 0);
  for (const int64_t dim : dims) {
    int64_t& seen = is_wanted[wrap_dim(dim, self.dim())];
    if (seen++ != 0) {
      fail_view("dim " + number_text(static_cast<int64_t>(wrap_dim(dim, self.dim()))) +
                " appears multiple times in the list of dims");
    }
  }
  return squeeze_info(self, [&](size_t d) { return is_wanted[d] != 0; });
}

template <typename N>
Info<N> unsqueeze_shape(const Info<N>& self, Size dim) {
  return unsqueeze_info(self, dim);
}

// ---- as other operators

Tensor transpose_parts(Context& c, const Tensor& self, Size dim0, Size dim1) {
  const int64_t rank = rank_of(self);
  const int64_t a = wrapped_dim(dim0, rank);
  const int64_t b = wrapped_dim(dim1, rank);
  if (rank <= 1 || a == b) return call(c, "aten::alias", self);
  Dims order = all_dims(rank);
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return call(c, "aten::permute", self, order);
}
Tensor t_parts(Context& c, const Tensor& self) {
  if (rank_of(self) < 2) return call(c, "aten::alias", self);
  return call(c, "aten::transpose.int", self, 0, 1);
}
Tensor matrix_transpose_parts(Context& c, const Tensor& self) {
  return call(c, "aten::transpose.int", self, -2, -1);
}
Tensor reverse_parts(Context& c, const Tensor& self) {
  Dims order = all_dims(rank_of(self));
  std::reverse(order.begin(), order.end());
  return call(c, "aten::permute", self, order);
}

Tensor conjugate_transpose(Context& c, const Tensor& self) {
  const Tensor transposed = matrix_transpose_parts(c, self);
  return is_complex(self.dtype()) ? call(c, "aten::conj", transposed) : transposed;
}
Tensor adjoint(Context& c, const Tensor& self) {
  if (rank_of(self) < 2) {
    fail_view("tensor.adjoint() is only supported on matrices or batches of matrices. Got " +
              number_text(rank_of(self)) + "-D tensor.");
  }
  return conjugate_transpose(c, self);
}
Tensor matrix_h(Context& c, const Tensor& self) {
  if (rank_of(self) != 2) {
    fail_view("tensor.H is only supported on matrices (2-D tensors). Got " + number_text(rank_of(self)) +
              "-D tensor.");
  }
  return conjugate_transpose(c, self);
}

Tensor movedim_list_parts(Context& c, const Tensor& self, std::span<const Size> source,
                          std::span<const Size> destination) {
  return call(c, "aten::permute", self, moved_order(rank_of(self), source, destination));
}
Tensor movedim_parts(Context& c, const Tensor& self, Size source, Size destination) {
  return movedim_list_parts(c, self, std::span(&source, 1), std::span(&destination, 1));
}

Tensor squeeze_parts(Context& c, const Tensor& self) {
  return call(c, "aten::squeeze.dims", self, all_dims(rank_of(self)));
}
Tensor squeeze_dim_parts(Context& c, const Tensor& self, Size dim) {
  return call(c, "aten::squeeze.dims", self, Dims{dim});
}

// ---- inverses
Tensor permute_inverse(Context& context, const Tensor& value, size_t, const Value&,
                       std::span<const Size> order) {
  Dims back(order.size(), 0);
  for (size_t d = 0; d < order.size(); ++d) back[wrap_dim(order[d], order.size())] = static_cast<int64_t>(d);
  return call(context, "aten::permute", value, back);
}
Tensor transpose_inverse(Context& context, const Tensor& value, size_t, const Value&, const Value& dim0,
                         const Value& dim1) {
  return call(context, "aten::transpose.int", value, dim0, dim1);
}
Tensor t_inverse(Context& context, const Tensor& value, size_t) { return call(context, "aten::t", value); }
Tensor unsqueeze_inverse(Context& context, const Tensor& value, size_t, const Value&, const Value& dim) {
  return call(context, "aten::squeeze.dim", value, dim);
}
Tensor squeeze_dim_inverse(Context& context, const Tensor& value, size_t, const Info<SymInt>& base,
                           Size dim) {
  if (base.dim() == 0 || !(base.sizes[wrap_dim(dim, base.dim())] == SymInt(1))) return value;
  return call(context, "aten::unsqueeze", value, dim.value());
}
Tensor squeeze_dims_inverse(Context& context, const Tensor& value, size_t, const Info<SymInt>& base,
                            std::span<const Size> dims) {
  Tensor result = value;
  for (const Size dim : dims) {
    const size_t d = wrap_dim(dim, base.dim());
    if (d < base.dim() && base.sizes[d] == SymInt(1))
      result = call(context, "aten::unsqueeze", result, static_cast<int64_t>(d));
  }
  return result;
}
Tensor squeeze_inverse(Context& context, const Tensor& value, size_t which, const Info<SymInt>& base) {
  std::vector<Size> dims;
  for (size_t d = 0; d < base.dim(); ++d) dims.emplace_back(static_cast<int64_t>(d));
  return squeeze_dims_inverse(context, value, which, base, dims);
}

}  // namespace

void define_order(Library& library) {
  library.define("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)")
      .view<permute_shape<Size>, permute_shape<SymInt>>()
      .inverse<permute_inverse>();
  library.define("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")
      .view<transpose_shape<Size>, transpose_shape<SymInt>>()
      .core_decomposition<transpose_parts>()
      .inverse<transpose_inverse>();
  library.define("aten::transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)")
      .view<transpose_shape<Size>, transpose_shape<SymInt>>();
  library.define("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)")
      .view<transpose_shape<Size>, transpose_shape<SymInt>>()
      .alias("aten::transpose.int");
  library.define("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")
      .view<transpose_shape<Size>, transpose_shape<SymInt>>()
      .alias("aten::transpose.int");
  library.define("aten::t(Tensor(a) self) -> Tensor(a)")
      .view<t_shape<Size>, t_shape<SymInt>>()
      .core_decomposition<t_parts>()
      .inverse<t_inverse>();
  library.define("aten::mT(Tensor(a) self) -> Tensor(a)")
      .view<matrix_transpose_shape<Size>, matrix_transpose_shape<SymInt>>()
      .composite<matrix_transpose_parts>();
  library.define("aten::numpy_T(Tensor(a) self) -> Tensor(a)")
      .view<reverse_shape<Size>, reverse_shape<SymInt>>()
      .composite<reverse_parts>();
  library.define("aten::adjoint(Tensor(a) self) -> Tensor(a)").composite<adjoint>();
  library.define("aten::mH(Tensor(a) self) -> Tensor(a)").composite<adjoint>();
  library.define("aten::matrix_H(Tensor(a) self) -> Tensor(a)").composite<matrix_h>();
  library.define("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)")
      .view<movedim_shape<Size>, movedim_shape<SymInt>>()
      .composite<movedim_parts>();
  library.define("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")
      .view<movedim_list_shape<Size>, movedim_list_shape<SymInt>>()
      .composite<movedim_list_parts>();
  library.define("aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)")
      .view<movedim_shape<Size>, movedim_shape<SymInt>>()
      .composite<movedim_parts>();
  library.define("aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")
      .view<movedim_list_shape<Size>, movedim_list_shape<SymInt>>()
      .composite<movedim_list_parts>();
  library.define("aten::squeeze(Tensor(a) self) -> Tensor(a)")
      .view<squeeze_shape<Size>, squeeze_shape<SymInt>>()
      .core_decomposition<squeeze_parts>()
      .inverse<squeeze_inverse>();
  library.define("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)")
      .view<squeeze_dim_shape<Size>, squeeze_dim_shape<SymInt>>()
      .core_decomposition<squeeze_dim_parts>()
      .inverse<squeeze_dim_inverse>();
  library.define("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)")
      .view<squeeze_dims_shape<Size>, squeeze_dims_shape<SymInt>>()
      .inverse<squeeze_dims_inverse>();
  library.define("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)")
      .view<unsqueeze_shape<Size>, unsqueeze_shape<SymInt>>()
      .inverse<unsqueeze_inverse>();
}

}  // namespace flambeau::ops
