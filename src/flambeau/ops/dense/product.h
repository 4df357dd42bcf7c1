// Batched matrix products of tensors: the way from operators to the engines in kernels/. Operands keep their
// strides; nothing is copied.
#pragma once

#include <string_view>

#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/value/scalar.h"

namespace flambeau::ops {

// What is added to a product: a tensor that broadcasts to the result, times beta. With beta 0 its values do
// not matter, not even NaN.
struct Addend {
  const Tensor* tensor = nullptr;  // none
  Scalar beta = 1;
};

// out[..., r, c] = alpha * sum over k of left[..., r, k] * right[..., k, c] + beta * addend[..., r, c]. All
// of one type; dimensions before the last two broadcast to those of `out`. `out` overlaps no operand.
void multiply(Context& context, const Tensor& left, const Tensor& right, const Tensor& out,
              const Addend& addend = {}, const Scalar& alpha = 1);

// Throws Error(kUnsupported) for types that PyTorch multiplies no matrices of: bool, complex32, quantized.
void require_product_type(std::string_view what, DType dtype);
// Throws Error(kInvalidArgument) in PyTorch's words when the types differ, or when a factor of integers is no
// integer.
void require_same_type(DType left, DType right);
void require_factors(DType dtype, const Scalar& beta, const Scalar& alpha);
kernels::Factor factor_of(const Scalar& scalar);

// Views: a dimension of size 1 before `at`, the last two exchanged, sizes of 1 repeated to fit.
Tensor unsqueezed(const Tensor& tensor, size_t at);
Tensor transposed(const Tensor& tensor);
Tensor expanded(const Tensor& tensor, std::span<const int64_t> sizes);
// The tensor, or a packed copy of it where its elements lie otherwise.
Tensor packed(Context& context, const Tensor& tensor);

}  // namespace flambeau::ops
