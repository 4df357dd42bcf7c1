// Products of tensors of any rank: matmul, linear.
#include <fmt/format.h>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
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
  if (left.dim() > 1 && right.dim() > 1) return multiply(context, left, right, out, addend);
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
}

}  // namespace flambeau::ops
