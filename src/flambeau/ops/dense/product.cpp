#include "flambeau/ops/dense/product.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/mechanism/type_names.h"

namespace flambeau::ops {
namespace {

enum : size_t { kLeft, kRight, kOut, kAddend, kOperands };

struct BatchDim {
  int64_t size;
  std::array<int64_t, kOperands> strides;
};

// Strides of nothing may be as large as numbers go.
int64_t stride_of(const Tensor& tensor, size_t d) {
  return tensor.element_count() == 0 ? 0 : tensor.strides()[d];
}

// The stride of a dimension of the result in an operand that broadcasts to it.
int64_t stride_in(const Tensor& tensor, size_t rank, size_t d) {
  const size_t shift = rank - tensor.dim();
  if (d < shift || tensor.sizes()[d - shift] == 1) return 0;
  return stride_of(tensor, d - shift);
}

// Batch dimensions, outermost first: without those of size 1, neighbours that lie evenly in every operand as
// one.
std::vector<BatchDim> batch_dims(const std::array<const Tensor*, kOperands>& operands) {
  std::vector<BatchDim> dims;
  const Tensor& out = *operands[kOut];
  for (size_t d = 0; d + 2 < out.dim(); ++d) {
    if (out.sizes()[d] == 1) continue;
    BatchDim dim{out.sizes()[d], {}};
    for (size_t i = 0; i < kOperands; ++i) {
      if (operands[i] != nullptr) dim.strides[i] = stride_in(*operands[i], out.dim(), d);
    }
    bool merges = !dims.empty();
    for (size_t i = 0; merges && i < kOperands; ++i) {
      merges = dims.back().strides[i] == dim.strides[i] * dim.size;
    }
    if (merges) {
      dim.size *= dims.back().size;
      dims.back() = dim;
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

kernels::MatrixSteps steps_of(const Tensor& tensor, size_t rank, int64_t batch) {
  return {stride_in(tensor, rank, rank - 2), stride_in(tensor, rank, rank - 1), batch};
}

struct Product {
  kernels::GemmShape shape;
  kernels::GemmAddend addend;
  kernels::Factor alpha;
};

// A batch whose right side is always the same is one product with more rows, where rows lie evenly.
void fold_batch_into_rows(Product& product) {
  kernels::GemmShape& shape = product.shape;
  if (shape.batch == 1 || shape.right.batch != 0) return;
  const auto continues = [&](const kernels::MatrixSteps& steps) {
    return shape.rows == 1 || steps.batch == steps.row * shape.rows;
  };
  if (!continues(shape.left) || !continues(shape.out) || !continues(product.addend.steps)) return;
  if (shape.rows == 1) {
    shape.left.row = shape.left.batch;
    shape.out.row = shape.out.batch;
    product.addend.steps.row = product.addend.steps.batch;
  }
  shape.rows *= shape.batch;
  shape.batch = 1;
}

// Rules of shapes have seen to it; offsets are made of these sizes, so they are not taken on trust.
void require_sizes(const Tensor& left, const Tensor& right, const Tensor& out, const Tensor* addend) {
  const auto batch_of = [](const Tensor& tensor) { return tensor.sizes().span().first(tensor.dim() - 2); };
  const auto rows_of = [](const Tensor& tensor) { return tensor.sizes()[tensor.dim() - 2]; };
  require(left.dim() >= 2 && right.dim() >= 2 && out.dim() >= 2 && rows_of(left) == rows_of(out) &&
              left.sizes().back() == rows_of(right) && right.sizes().back() == out.sizes().back(),
          "the sizes of two matrices and of their product do not fit each other");
  require_broadcast(batch_of(left), batch_of(out));
  require_broadcast(batch_of(right), batch_of(out));
  if (addend != nullptr) require_broadcast(addend->sizes(), out.sizes());
}

}  // namespace

void multiply(Context& context, const Tensor& left, const Tensor& right, const Tensor& out,
              const Addend& addend, const Scalar& alpha) {
  if (out.element_count() == 0) return;
  require_same_type(left.dtype(), right.dtype());
  require_same_type(left.dtype(), out.dtype());
  const bool adds = addend.tensor != nullptr && !(addend.beta.to_complex() == 0.0);
  require_sizes(left, right, out, adds ? addend.tensor : nullptr);
  const size_t rank = out.dim();
  const std::array<const Tensor*, kOperands> operands = {&left, &right, &out, adds ? addend.tensor : nullptr};
  std::vector<BatchDim> dims = batch_dims(operands);
  const BatchDim inner = dims.empty() ? BatchDim{1, {}} : dims.back();
  if (!dims.empty()) dims.pop_back();

  Product product;
  product.shape = {
      .dtype = out.dtype(),
      .rows = out.sizes()[rank - 2],
      .columns = out.sizes()[rank - 1],
      .depth = left.sizes()[left.dim() - 1],
      .batch = inner.size,
      .left = {stride_of(left, left.dim() - 2), stride_of(left, left.dim() - 1), inner.strides[kLeft]},
      .right = {stride_of(right, right.dim() - 2), stride_of(right, right.dim() - 1), inner.strides[kRight]},
      .out = steps_of(out, rank, inner.strides[kOut])};
  product.alpha = factor_of(alpha);
  if (adds) {
    require_same_type(out.dtype(), addend.tensor->dtype());
    product.addend.data = addend.tensor->data();
    product.addend.steps = steps_of(*addend.tensor, rank, inner.strides[kAddend]);
    product.addend.beta = factor_of(addend.beta);
  }
  fold_batch_into_rows(product);

  const auto element = static_cast<int64_t>(out.element_size());
  const uint8_t* const left_data = left.element_count() == 0 ? nullptr : left.data();
  const uint8_t* const right_data = right.element_count() == 0 ? nullptr : right.data();
  uint8_t* const out_data = out.mutable_data();
  std::vector<int64_t> index(dims.size(), 0);
  for (;;) {
    std::array<int64_t, kOperands> offsets{};
    for (size_t d = 0; d < dims.size(); ++d) {
      for (size_t i = 0; i < kOperands; ++i) offsets[i] += index[d] * dims[d].strides[i] * element;
    }
    kernels::GemmAddend added = product.addend;
    if (adds) added.data = static_cast<const uint8_t*>(added.data) + offsets[kAddend];
    kernels::gemm(context.pool(), product.shape, left_data + offsets[kLeft], right_data + offsets[kRight],
                  out_data + offsets[kOut], added, product.alpha);
    size_t d = dims.size();
    while (d > 0 && ++index[d - 1] == dims[d - 1].size) index[--d] = 0;
    if (d == 0) return;
  }
}

void require_product_type(std::string_view what, DType dtype) {
  const bool is_plain = is_floating(dtype) || is_complex(dtype) || is_integral(dtype);
  if (!is_plain || dtype == DType::kBool || dtype == DType::kComplex32) fail_dtype(what, dtype);
}

void require_same_type(DType left, DType right) {
  if (left == right) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("expected m1 and m2 to have the same dtype, but got: {} != {}",
                          dtype_type_name(left), dtype_type_name(right)));
}

void require_factors(DType dtype, const Scalar& beta, const Scalar& alpha) {
  if (!is_integral(dtype)) return;
  const auto require = [](const Scalar& factor, std::string_view name) {
    if (!factor.is_float() && !factor.is_complex()) return;
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("For integral input tensors, argument {} must not be a floating point number.", name));
  };
  require(beta, "beta");
  require(alpha, "alpha");
}

kernels::Factor factor_of(const Scalar& scalar) {
  if (scalar.is_complex()) return scalar.to_complex();
  if (scalar.is_float()) return scalar.to_double();
  return scalar.to_int();
}

Tensor unsqueezed(const Tensor& tensor, size_t at) {
  Geometry geometry = tensor.geometry();
  geometry.strides.insert(at, at < tensor.dim() ? geometry.sizes[at] * stride_of(tensor, at) : 1);
  geometry.sizes.insert(at, 1);
  return tensor.with_geometry(std::move(geometry));
}

Tensor transposed(const Tensor& tensor) {
  Geometry geometry = tensor.geometry();
  const size_t rank = geometry.sizes.size();
  std::swap(geometry.sizes[rank - 1], geometry.sizes[rank - 2]);
  std::swap(geometry.strides[rank - 1], geometry.strides[rank - 2]);
  return tensor.with_geometry(std::move(geometry));
}

Tensor expanded(const Tensor& tensor, std::span<const int64_t> sizes) {
  require_broadcast(tensor.sizes(), sizes);
  Geometry geometry{Dims(sizes), Dims(sizes.size(), 0), tensor.offset()};
  for (size_t d = 0; d < sizes.size(); ++d) geometry.strides[d] = stride_in(tensor, sizes.size(), d);
  return tensor.with_geometry(std::move(geometry));
}

Tensor packed(Context& context, const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  Tensor copy = context.allocate(tensor.dtype(), tensor.sizes());
  copy_into(context, tensor, copy);
  return copy;
}

}  // namespace flambeau::ops
