// Sums over the products of chosen dimensions: tensordot, inner.
#include <fmt/format.h>

#include "flambeau/base/wrapping.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {
namespace {

struct DotDims {
  std::vector<size_t> left_kept, left_summed, right_kept, right_summed;
};

DotDims dot_dims(size_t left_rank, size_t right_rank, std::span<const Size> left_dims,
                 std::span<const Size> right_dims) {
  require(left_dims.size() == right_dims.size(), "both dimension lists should have same length");
  DotDims dims;
  const auto split = [](size_t rank, std::span<const Size> named, std::vector<size_t>& kept,
                        std::vector<size_t>& summed) {
    std::vector<bool> is_summed(std::max<size_t>(rank, 1), false);
    for (const int64_t dim : named) {
      const size_t d = wrap_dim(dim, rank);
      if (is_summed[d]) fail_argument(fmt::format("dim {} appears multiple times in the list of dims", d));
      is_summed[d] = true;
      summed.push_back(d);
    }
    for (size_t d = 0; d < rank; ++d) {
      if (!is_summed[d]) kept.push_back(d);
    }
  };
  split(left_rank, left_dims, dims.left_kept, dims.left_summed);
  split(right_rank, right_dims, dims.right_kept, dims.right_summed);
  return dims;
}

template <typename N>
Info<N> tensordot_shape(const Info<N>& self, const Info<N>& other, std::span<const Size> dims_self,
                        std::span<const Size> dims_other) {
  const DotDims dims = dot_dims(self.dim(), other.dim(), dims_self, dims_other);
  require_same_type(self.dtype, other.dtype);
  for (size_t i = 0; i < dims.left_summed.size(); ++i) {
    const N& a = self.sizes[dims.left_summed[i]];
    const N& b = other.sizes[dims.right_summed[i]];
    if (a == b || a == N(1) || b == N(1)) continue;
    fail_argument(fmt::format(
        "contracted dimensions need to match, but first has size {} in dim {} and second has size "
        "{} in dim {}",
        number_text(a), dims.left_summed[i], number_text(b), dims.right_summed[i]));
  }
  ShortList<N> sizes;
  for (const size_t d : dims.left_kept) sizes.push_back(self.sizes[d]);
  for (const size_t d : dims.right_kept) sizes.push_back(other.sizes[d]);
  return contiguous<N>(self.dtype, std::move(sizes), self.device);
}

// The tensor as a packed matrix of rows x columns, dimensions in the given order; a summed dimension of size
// 1 is repeated to the other side's size.
Tensor matrix_of(Context& context, const Tensor& tensor, std::span<const size_t> order,
                 std::span<const int64_t> sizes, int64_t rows, int64_t columns) {
  Geometry geometry{Dims(sizes), {}, tensor.offset()};
  for (size_t i = 0; i < order.size(); ++i) {
    geometry.strides.push_back(tensor.sizes()[order[i]] == sizes[i] ? tensor.strides()[order[i]] : 0);
  }
  const Tensor matrix = packed(context, tensor.with_geometry(std::move(geometry)));
  return matrix.with_geometry({{rows, columns}, {columns, 1}, matrix.offset()});
}

void tensordot_kernel(Context& context, const Tensor& self, const Tensor& other,
                      std::span<const Size> dims_self, std::span<const Size> dims_other, Tensor& out) {
  require_product_type("addmm_impl_cpu_", out.dtype());
  const DotDims dims = dot_dims(self.dim(), other.dim(), dims_self, dims_other);
  std::vector<size_t> left_order = dims.left_kept;
  std::vector<size_t> right_order;
  Dims left_sizes, right_sizes;
  int64_t rows = 1, columns = 1, depth = 1;
  for (const size_t d : dims.left_kept) {
    left_sizes.push_back(self.sizes()[d]);
    rows *= self.sizes()[d];
  }
  for (size_t i = 0; i < dims.left_summed.size(); ++i) {
    const int64_t a = self.sizes()[dims.left_summed[i]];
    const int64_t size = a == 1 ? other.sizes()[dims.right_summed[i]] : a;
    depth *= size;
    left_sizes.push_back(size);
    right_sizes.push_back(size);
    left_order.push_back(dims.left_summed[i]);
    right_order.push_back(dims.right_summed[i]);
  }
  for (const size_t d : dims.right_kept) {
    right_sizes.push_back(other.sizes()[d]);
    right_order.push_back(d);
    columns *= other.sizes()[d];
  }
  const Tensor left = matrix_of(context, self, left_order, left_sizes, rows, depth);
  const Tensor right = matrix_of(context, other, right_order, right_sizes, depth, columns);
  multiply(context, left, right, out.with_geometry({{rows, columns}, {columns, 1}, out.offset()}));
}

template <typename N>
Info<N> inner_shape(const Info<N>& self, const Info<N>& other) {
  if (self.dim() == 0 || other.dim() == 0) return elementwise_info<N>(result_type(self, other), self, other);
  if (!(self.sizes[self.dim() - 1] == other.sizes[other.dim() - 1])) {
    fail_argument("inner() the last dimension must match on both input tensors");
  }
  const Size last[] = {-1};
  return tensordot_shape(self, other, last, last);
}

struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    return wrapping_multiply(a, b);
  }
};

void inner_kernel(Context& context, const Tensor& self, const Tensor& other, Tensor& out) {
  if (self.dim() == 0 || other.dim() == 0) {
    return map(context, "mul", Multiply{}, out.dtype(), out, self, other);
  }
  const Size last[] = {-1};
  tensordot_kernel(context, self, other, last, last, out);
}

// Both as matrices: what is kept of the first one times what is kept of the second.
Tensor tensordot_parts(Context& c, const Tensor& self, const Tensor& other, std::span<const Size> dims_self,
                       std::span<const Size> dims_other) {
  Tensor left = self;
  Tensor right = other;
  SymInt summed = 1;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    if (size_of(right, dims_other[i]) == SymInt(1)) {
      left = call(c, "aten::sum.dim_IntList", left, Dims{dims_self[i]}, true);
    } else if (size_of(left, dims_self[i]) == SymInt(1)) {
      right = call(c, "aten::sum.dim_IntList", right, Dims{dims_other[i]}, true);
    } else {
      summed *= size_of(left, dims_self[i]);
    }
  }
  SymIntList sizes;
  const auto kept = [&](const Tensor& tensor, std::span<const Size> dims, SymInt& count) {
    const Dims taken = dims.empty() ? Dims() : wrapped_dims(dims, rank_of(tensor));
    Dims rest;
    for (int64_t d = 0; d < rank_of(tensor); ++d) {
      if (std::find(taken.begin(), taken.end(), d) != taken.end()) continue;
      rest.push_back(d);
      count *= size_of(tensor, d);
      sizes.push_back(size_of(tensor, d));
    }
    return rest;
  };
  SymInt rows = 1, columns = 1;
  Dims left_order = kept(left, dims_self, rows);
  for (const int64_t d : dims_self) left_order.push_back(d);
  Dims right_order;
  for (const int64_t d : dims_other) right_order.push_back(d);
  for (const int64_t d : kept(right, dims_other, columns)) right_order.push_back(d);
  left = call(c, "aten::permute", left, left_order);
  if (rank_of(self) == 1 && rank_of(other) == 1 && sizes.empty()) {
    const Tensor product = call(c, "aten::dot", left, call(c, "aten::permute", right, right_order));
    return call(c, "aten::reshape", product, sizes);
  }
  left = call(c, "aten::reshape", left, SymIntList{rows, summed});
  right = call(c, "aten::reshape", call(c, "aten::permute", right, right_order), SymIntList{summed, columns});
  return call(c, "aten::reshape", call(c, "aten::mm", left, right), sizes);
}
Tensor inner_parts(Context& c, const Tensor& self, const Tensor& other) {
  if (rank_of(self) == 0 || rank_of(other) == 0) return parts::mul(c, self, other);
  return call(c, "aten::tensordot", self, other, Dims{-1}, Dims{-1});
}

}  // namespace

void define_tensordot(Library& library) {
  library.define("aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor")
      .shape<tensordot_shape<Size>, tensordot_shape<SymInt>>()
      .kernel<tensordot_kernel>()
      .composite<tensordot_parts>();
  library.define("aten::inner(Tensor self, Tensor other) -> Tensor")
      .shape<inner_shape<Size>, inner_shape<SymInt>>()
      .kernel<inner_kernel>()
      .composite<inner_parts>();
}

}  // namespace flambeau::ops
