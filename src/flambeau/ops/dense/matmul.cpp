// Products of tensors of any rank: matmul, linear, inner, tensordot, bilinear.
#include <fmt/format.h>

#include "flambeau/base/wrapping.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {
namespace {

// A vector on the left is a row, one on the right a column; the result lacks their dimension of size 1.
template <typename N>
Info<N> matmul_shape(const Info<N>& self, const Info<N>& other) {
  if (self.dim() == 0 || other.dim() == 0) {
    fail_argument(fmt::format("both arguments to matmul need to be at least 1D, but they are {}D and {}D",
                              self.dim(), other.dim()));
  }
  const N rows = self.dim() > 1 ? self.sizes[self.dim() - 2] : N(1);
  const N depth = self.sizes[self.dim() - 1];
  const N other_depth = other.dim() > 1 ? other.sizes[other.dim() - 2] : other.sizes[0];
  const N columns = other.dim() > 1 ? other.sizes[other.dim() - 1] : N(1);
  if (!(depth == other_depth)) {
    fail_argument(fmt::format("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})",
                              number_text(rows), number_text(depth), number_text(other_depth),
                              number_text(columns)));
  }
  require_same_type(self.dtype, other.dtype);
  const auto batch_of = [](const Info<N>& info) {
    ShortList<N> batch;
    for (size_t d = 0; d + 2 < info.dim(); ++d) batch.push_back(info.sizes[d]);
    return batch;
  };
  ShortList<N> sizes = broadcast(batch_of(self), batch_of(other));
  if (self.dim() > 1) sizes.push_back(rows);
  if (other.dim() > 1) sizes.push_back(columns);
  return contiguous<N>(self.dtype, std::move(sizes), self.device);
}

void matmul_into(Context& context, const Tensor& left, const Tensor& right, const Tensor& out,
                 const Addend& addend = {}) {
  Tensor result = out;
  const Tensor rows = left.dim() > 1 ? left : unsqueezed(left, 0);
  const Tensor columns = right.dim() > 1 ? right : unsqueezed(right, 1);
  if (right.dim() == 1) result = unsqueezed(result, result.dim());
  if (left.dim() == 1) result = unsqueezed(result, result.dim() - 1);
  multiply(context, rows, columns, result, addend);
}

void matmul_kernel(Context& context, const Tensor& self, const Tensor& other, Tensor& out) {
  const bool is_dot = self.dim() == 1 && other.dim() == 1;
  require_product_type(is_dot ? "dot" : out.dim() > 2 ? "bmm" : "addmm_impl_cpu_", out.dtype());
  matmul_into(context, self, other, out);
}

template <typename N>
Info<N> linear_shape(const Info<N>& input, const Info<N>& weight, const Info<N>* bias) {
  if (input.dim() == 0 || weight.dim() == 0) {
    fail_argument(fmt::format("both arguments to linear need to be at least 1D, but they are {}D and {}D",
                              input.dim(), weight.dim()));
  }
  if (weight.dim() > 2)
    fail_argument(fmt::format("t() expects a tensor with <= 2 dimensions, but self is {}D", weight.dim()));
  Info<N> turned = weight;
  if (weight.dim() == 2) {
    std::swap(turned.sizes[0], turned.sizes[1]);
    std::swap(turned.strides[0], turned.strides[1]);
  }
  Info<N> out = matmul_shape(input, turned);
  if (bias != nullptr) {
    require_same_type(bias->dtype, input.dtype);
    if (!(broadcast(out.sizes, bias->sizes) == out.sizes)) {
      fail_argument("the bias of a linear layer must broadcast to its result");
    }
  }
  return out;
}

void linear_kernel(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                   Tensor& out) {
  require_product_type("addmm_impl_cpu_", out.dtype());
  const Tensor columns = weight.dim() == 2 ? transposed(weight) : weight;
  if (bias == nullptr) return matmul_into(context, input, columns, out);
  Tensor addend = expanded(*bias, out.sizes());
  if (weight.dim() == 1) addend = unsqueezed(addend, addend.dim());
  if (input.dim() == 1) addend = unsqueezed(addend, addend.dim() - 1);
  matmul_into(context, input, columns, out, {&addend, 1});
}

// ---- tensordot

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

// ---- inner

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

// ---- bilinear: out[b, o] = sum over i, j of input1[b, i] * weight[o, i, j] * input2[b, j] + bias[o]

template <typename N>
Info<N> bilinear_shape(const Info<N>& input1, const Info<N>& input2, const Info<N>& weight,
                       const Info<N>* bias) {
  require(input1.dim() == input2.dim() && input1.dim() > 0, "bilinear(): input dimensions do not match");
  require(weight.dim() == 3, "bilinear(): the weight must have 3 dimensions");
  ShortList<N> sizes;
  for (size_t d = 0; d + 1 < input1.dim(); ++d) {
    require(input1.sizes[d] == input2.sizes[d], "bilinear(): input batch dimensions do not match");
    sizes.push_back(input1.sizes[d]);
  }
  require(input1.sizes[input1.dim() - 1] == weight.sizes[1],
          "bilinear(): input1 size does not match weight size");
  require(input2.sizes[input2.dim() - 1] == weight.sizes[2],
          "bilinear(): input2 size does not match weight size");
  require(bias == nullptr || bias->dim() == 1 ? bias == nullptr || bias->sizes[0] == weight.sizes[0] : false,
          "bilinear(): bias size does not match weight size");
  for (const Info<N>* const other : {&input2, &weight, bias}) {
    if (other == nullptr || other->dtype == input1.dtype) continue;
    fail_argument(
        fmt::format("All tensors must have the same dtype, got input1: {}, input2: {}, weight: {}{}",
                    dtype_name(input1.dtype), dtype_name(input2.dtype), dtype_name(weight.dtype),
                    bias == nullptr ? "" : fmt::format(", bias: {}", dtype_name(bias->dtype))));
  }
  sizes.push_back(weight.sizes[0]);
  return contiguous<N>(input1.dtype, std::move(sizes), input1.device);
}

void bilinear_kernel(Context& context, const Tensor& input1, const Tensor& input2, const Tensor& weight,
                     const Tensor* bias, Tensor& out) {
  require_product_type("bilinear", out.dtype());
  const int64_t outs = weight.sizes()[0];
  const int64_t from1 = weight.sizes()[1];
  const int64_t from2 = weight.sizes()[2];
  const int64_t batch = out.element_count() / outs;
  const Tensor first = packed(context, input1);
  const Tensor second = packed(context, input2);
  // partial[o, b, j] = sum over i of input1[b, i] * weight[o, i, j].
  const Tensor partial = context.allocate(out.dtype(), std::array<int64_t, 3>{outs, batch, from2});
  multiply(context, first.with_geometry({{batch, from1}, {from1, 1}, first.offset()}), weight, partial);
  const Tensor left =
      partial.with_geometry({{batch, outs, from2}, {from2, batch * from2, 1}, partial.offset()});
  const Tensor right = second.with_geometry({{batch, from2, 1}, {from2, 1, 1}, second.offset()});
  Addend addend;
  Tensor column;
  if (bias != nullptr) {
    column = unsqueezed(*bias, 1);
    addend.tensor = &column;
  }
  multiply(context, left, right, out.with_geometry({{batch, outs, 1}, {outs, 1, 1}, out.offset()}), addend);
}

// ---- as mm, bmm and addmm

Tensor turned(Context& c, const Tensor& tensor) { return call(c, "aten::transpose.int", tensor, -2, -1); }

// All dimensions but the last one as a single one.
Tensor as_rows(Context& c, const Tensor& tensor) {
  const SymIntList sizes = sizes_of(tensor);
  SymInt rows = sizes.size() < 2 ? SymInt(1) : sizes[0];
  for (size_t d = 1; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  return call(c, "aten::reshape", tensor, SymIntList{rows, sizes.back()});
}

// The batch of the larger one can be folded into its rows without a copy.
bool can_fold(const Tensor& first, const Tensor& second) {
  const bool is_first_larger = rank_of(first) >= rank_of(second);
  const Tensor& large = is_first_larger ? first : second;
  const Tensor& small = is_first_larger ? second : first;
  if (rank_of(large) < 3 || rank_of(small) > 2) return false;
  if (small.requires_grad()) return true;
  return rank_of(first) != 2 && is_row_major(large);
}

Tensor folded_product(Context& c, const Tensor& first, const Tensor& second) {
  const bool is_swapped = rank_of(second) > rank_of(first);
  const Tensor large = is_swapped ? turned(c, second) : first;
  const Tensor small = !is_swapped ? second : rank_of(first) == 2 ? call(c, "aten::t", first) : first;
  SymIntList shape = sizes_of(large);
  const Tensor flat = as_rows(c, large);
  if (rank_of(small) == 1) {
    shape.erase(shape.size() - 1);
    return call(c, "aten::_unsafe_view", call(c, "aten::mv", flat, small), shape);
  }
  shape.back() = size_of(small, 1);
  const Tensor product = call(c, "aten::_unsafe_view", call(c, "aten::mm", flat, small), shape);
  return is_swapped ? call(c, "aten::contiguous", turned(c, product)) : product;
}

SymIntList batch_of(const Tensor& tensor) {
  SymIntList sizes = sizes_of(tensor);
  for (int i = 0; i < 2 && !sizes.empty(); ++i) sizes.erase(sizes.size() - 1);
  return sizes;
}
SymIntList common_batch(SymIntList a, SymIntList b) {
  while (a.size() < b.size()) a = inserted(a, 0, 1);
  while (b.size() < a.size()) b = inserted(b, 0, 1);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == SymInt(1)) a[i] = b[i];
  }
  return a;
}

Tensor batched_product(Context& c, const Tensor& first, const Tensor& second) {
  const bool has_rows = rank_of(first) > 1;
  const bool has_columns = rank_of(second) > 1;
  const SymInt rows = has_rows ? size_of(first, -2) : SymInt(1);
  const SymInt columns = has_columns ? size_of(second, -1) : SymInt(1);
  const SymIntList batch = common_batch(batch_of(first), batch_of(second));
  SymInt count = 1;
  for (const SymInt& size : batch) count *= size;
  const auto flat = [&](const Tensor& tensor, const SymIntList& tail) {
    SymIntList wide = batch;
    SymIntList packed = {count};
    for (const SymInt& size : tail) {
      wide.push_back(size);
      packed.push_back(size);
    }
    return call(c, "aten::reshape", call(c, "aten::expand", tensor, wide), packed);
  };
  const Tensor left = flat(first, {rows, size_of(first, -1)});
  Tensor right =
      has_columns ? flat(second, {size_of(second, -2), columns}) : flat(second, {size_of(second, -1)});
  if (!has_columns) right = call(c, "aten::unsqueeze", right, 2);
  SymIntList shape = batch;
  if (has_rows) shape.push_back(rows);
  if (has_columns) shape.push_back(columns);
  Tensor product = call(c, "aten::bmm", left, right);
  if (!has_columns) product = call(c, "aten::squeeze.dim", product, -1);
  return call(c, "aten::view", product, shape);
}

Tensor matmul_parts(Context& c, const Tensor& self, const Tensor& other) {
  const int64_t first = rank_of(self);
  const int64_t second = rank_of(other);
  if (first == 1 && second == 1) return call(c, "aten::dot", self, other);
  if (first == 2 && second == 1) return call(c, "aten::mv", self, other);
  if (first == 1 && second == 2) {
    const Tensor row = call(c, "aten::unsqueeze", self, 0);
    return call(c, "aten::squeeze.dim", call(c, "aten::mm", row, other), 0);
  }
  if (first == 2 && second == 2) return call(c, "aten::mm", self, other);
  return can_fold(self, other) ? folded_product(c, self, other) : batched_product(c, self, other);
}

Tensor linear_parts(Context& c, const Tensor& input, const Tensor& weight, const Tensor* bias) {
  const auto columns = [&] { return call(c, "aten::t", weight); };
  if (bias != nullptr && rank_of(input) == 2) return call(c, "aten::addmm", *bias, input, columns());
  if (bias != nullptr && rank_of(input) > 0 && is_row_major(input) && rank_of(*bias) == 1) {
    const Tensor flat = as_rows(c, input);
    const Tensor product = call(c, "aten::addmm", *bias, flat, columns());
    SymIntList shape = sizes_of(input);
    shape.back() = size_of(product, 1);
    return call(c, "aten::view", product, shape);
  }
  const Tensor product = call(c, "aten::matmul", input, columns());
  return bias != nullptr ? parts::add(c, product, *bias) : product;
}

Tensor bilinear_parts(Context& c, const Tensor& input1, const Tensor& input2, const Tensor& weight,
                      const Tensor* bias) {
  const auto rows_of = [&](const Tensor& tensor) {
    return call(c, "aten::reshape", tensor, SymIntList{SymInt(-1), size_of(tensor, -1)});
  };
  const Tensor left = rows_of(input1);
  const Tensor right = rows_of(input2);
  const Tensor product =
      call(c, "aten::_trilinear", left, weight, right, Dims{1, 3}, Dims{0}, Dims{1, 2}, Dims{2, 3});
  SymIntList shape = sizes_of(input1);
  shape.back() = size_of(weight, 0);
  const Tensor result = call(c, "aten::reshape", product, shape);
  return bias != nullptr ? parts::add(c, result, *bias) : result;
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

ProductCall matmul_call(const Tensor& self, const Tensor& other) {
  return {.input = &self, .weight = &other};
}
ProductCall linear_call(const Tensor& input, const Tensor& weight, const Tensor* bias) {
  return {.input = &input, .weight = &weight, .bias = bias, .is_turned = true};
}

}  // namespace

void define_matmul(Library& library) {
  library.define("aten::matmul(Tensor self, Tensor other) -> Tensor")
      .shape<matmul_shape<Size>, matmul_shape<SymInt>>()
      .kernel<matmul_kernel>()
      .composite<matmul_parts>()
      .describe<matmul_call>()
      .work<product_work>();
  library.define("aten::linalg_matmul(Tensor self, Tensor other) -> Tensor")
      .shape<matmul_shape<Size>, matmul_shape<SymInt>>()
      .kernel<matmul_kernel>()
      .alias("aten::matmul")
      .describe<matmul_call>()
      .work<product_work>();
  library.define("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
      .shape<linear_shape<Size>, linear_shape<SymInt>>()
      .kernel<linear_kernel>()
      .composite<linear_parts>()
      .describe<linear_call>()
      .work<product_work>();
  library.define("aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor")
      .shape<tensordot_shape<Size>, tensordot_shape<SymInt>>()
      .kernel<tensordot_kernel>()
      .composite<tensordot_parts>();
  library.define("aten::inner(Tensor self, Tensor other) -> Tensor")
      .shape<inner_shape<Size>, inner_shape<SymInt>>()
      .kernel<inner_kernel>()
      .composite<inner_parts>();
  library.define("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor")
      .shape<bilinear_shape<Size>, bilinear_shape<SymInt>>()
      .kernel<bilinear_kernel>()
      .composite<bilinear_parts>();
}

}  // namespace flambeau::ops
