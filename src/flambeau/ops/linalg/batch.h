// What operators of linear algebra share: batches of matrices that lie column after column, as LAPACK has
// them and PyTorch gives them; the four types; and the checks that all of them make.
#pragma once

#include <complex>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "flambeau/kernels/linalg/matrix.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {

// A fresh batch of matrices, column after column.
template <typename N>
Info<N> column_major(DType dtype, ShortList<N> sizes, Device device) {
  const size_t rank = sizes.size();
  ShortList<N> strides = row_major(sizes);
  strides[rank - 2] = 1;
  strides[rank - 1] = max(sizes[rank - 2], N(1));
  return {.dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides), .device = device};
}
// What a result is that was not asked for.
template <typename N>
Info<N> no_result(DType dtype, Device device) {
  return contiguous<N>(dtype, {N(0)}, device);
}

template <typename N>
ShortList<N> batch_sizes(const Info<N>& info, size_t without = 2) {
  ShortList<N> sizes;
  for (size_t d = 0; d + without < info.dim(); ++d) sizes.push_back(info.sizes[d]);
  return sizes;
}
template <typename N, typename... More>
ShortList<N> with_sizes(ShortList<N> sizes, const More&... more) {
  (sizes.push_back(more), ...);
  return sizes;
}
template <typename N>
const N& rows_of(const Info<N>& info) {
  return info.sizes[info.dim() - 2];
}
template <typename N>
const N& columns_of(const Info<N>& info) {
  return info.sizes[info.dim() - 1];
}

// ---- checks, in every operator's name

void require_linalg_type(std::string_view name, DType dtype);
[[noreturn]] void fail_matrices(std::string_view name, std::string_view what);
[[noreturn]] void fail_square(std::string_view name, const std::string& rows, const std::string& columns);

template <typename N>
void require_matrices(std::string_view name, const Info<N>& info, std::string_view what = "A") {
  if (info.dim() < 2) fail_matrices(name, what);
}
template <typename N>
void require_matrix_input(std::string_view name, const Info<N>& info) {
  require_matrices(name, info);
  require_linalg_type(name, info.dtype);
}
template <typename N>
void require_square(std::string_view name, const Info<N>& info) {
  require_matrices(name, info);
  if (!(rows_of(info) == columns_of(info))) {
    fail_square(name, number_text(rows_of(info)), number_text(columns_of(info)));
  }
}
template <typename N>
void require_square_input(std::string_view name, const Info<N>& info) {
  require_square(name, info);
  require_linalg_type(name, info.dtype);
}
void require_alike(std::string_view name, DType a, DType b);
// Throws what LAPACK's numbers mean for the operator of that name, where one is not 0.
void check_infos(const Tensor& infos, std::string_view name, bool is_matrix);
// Pivots come from a program: each must name a row, and LDL's pairs must be pairs.
void require_pivots(const Tensor& pivots, int64_t rows, bool with_pairs);
// Throws unless every number is finite.
void require_finite(std::string_view name, const Tensor& tensor);

// ---- running

// calls body.operator()<T>() for the type.
template <typename Body>
void for_linalg_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kFloat32:
      return body.template operator()<float>();
    case DType::kFloat64:
      return body.template operator()<double>();
    case DType::kComplex64:
      return body.template operator()<std::complex<float>>();
    case DType::kComplex128:
      return body.template operator()<std::complex<double>>();
    default:
      require_linalg_type("linalg", dtype);
  }
}

// The number of matrices; of rows of numbers.
int64_t matrix_count(const Tensor& tensor, size_t without = 2);
// Where matrix `index` begins, counted in elements.
int64_t matrix_offset(const Tensor& tensor, int64_t index, size_t without = 2);

// The matrices of a tensor that the caller may write.
template <typename T>
kernels::linalg::Matrix<T> matrix_at(const Tensor& tensor, int64_t index) {
  const size_t rank = tensor.dim();
  if (tensor.element_count() == 0) return {nullptr, tensor.sizes()[rank - 2], tensor.sizes()[rank - 1], 1, 0};
  return {tensor.mutable_data<T>() + matrix_offset(tensor, index), tensor.sizes()[rank - 2],
          tensor.sizes()[rank - 1], tensor.strides()[rank - 2], tensor.strides()[rank - 1]};
}
// The row of numbers that belongs to a matrix, of a packed tensor.
template <typename T>
T* row_at(const Tensor& tensor, int64_t index) {
  if (tensor.element_count() == 0) return nullptr;
  return tensor.mutable_data<T>() + index * tensor.sizes().back();
}

// A copy of matrices, column after column, for kernels that work in place: repeated to that batch.
Tensor column_copy(Context& context, const Tensor& tensor);
Tensor column_copy(Context& context, const Tensor& tensor, std::span<const int64_t> batch);

// Calls body(index) for each matrix, which takes about so many operations: several at once where that pays.
void each_matrix(Context& context, int64_t count, double operations,
                 const std::function<void(int64_t)>& body);
// The third power of the longer side: what most factorizations take.
double cubic_cost(const Tensor& matrices);

}  // namespace flambeau::ops
