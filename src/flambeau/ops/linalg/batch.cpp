#include "flambeau/ops/linalg/batch.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {

void require_linalg_type(std::string_view name, DType dtype) {
  if (!is_floating(dtype) && !is_complex(dtype)) {
    fail_argument(fmt::format("{}: Expected a floating point or complex tensor as input. Got {}", name,
                              dtype_word(dtype)));
  }
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kComplex64:
    case DType::kComplex128:
      return;
    default:
      fail_argument(fmt::format("{}: Low precision dtypes not supported. Got {}", name, dtype_word(dtype)));
  }
}

void fail_matrices(std::string_view name, std::string_view what) {
  fail_argument(fmt::format("{}: The input tensor {} must have at least 2 dimensions.", name, what));
}
void fail_square(std::string_view name, const std::string& rows, const std::string& columns) {
  fail_argument(fmt::format("{}: A must be batches of square matrices, but they are {} by {} matrices", name,
                            rows, columns));
}

void require_alike(std::string_view name, DType a, DType b) {
  if (a == b) return;
  fail_argument(fmt::format("{}: Expected A and B to have the same dtype, but found {} and {} instead", name,
                            dtype_word(a), dtype_word(b)));
}

namespace {

std::string meaning(std::string_view name, int64_t info) {
  if (info < 0) return fmt::format("argument {} has an illegal value.", -info);
  if (name.find("inv") != name.npos) {
    return fmt::format(
        "the diagonal element {} is zero: the matrix is singular, and the inversion could not be completed.",
        info);
  }
  if (name.find("solve") != name.npos) return "the matrix is singular, so that there is no single solution.";
  if (name.find("cholesky") != name.npos) {
    return fmt::format(
        "the factorization could not be completed because the input is not positive-definite (the leading "
        "minor of order {} is not positive-definite).",
        info);
  }
  if (name.find("svd") != name.npos || name.find("eig") != name.npos) {
    return fmt::format(
        "the algorithm failed to converge because the input matrix is ill-conditioned or has too many "
        "repeated values (error code: {}).",
        info);
  }
  if (name.find("lu_factor") != name.npos) {
    return fmt::format(
        "U[{0},{0}] is zero, and using it on lu_solve would divide by zero; lu_factor_ex gives the factors "
        "nevertheless.",
        info);
  }
  if (name.find("ldl") != name.npos) {
    return fmt::format(
        "the factorization has a zero on the diagonal of D, element {}: solving with it would divide by "
        "zero.",
        info);
  }
  return fmt::format("failed with error code {}.", info);
}

}  // namespace

void check_infos(const Tensor& infos, std::string_view name, bool is_matrix) {
  const Tensor numbers = infos.to_contiguous();
  if (numbers.dtype() != DType::kInt32) fail_dtype("_linalg_check_errors", numbers.dtype());
  for (int64_t i = 0; i < numbers.element_count(); ++i) {
    const int64_t info = numbers.data<int32_t>()[i];
    if (info == 0) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: {}{}", name, is_matrix ? "" : fmt::format("(Batch element {}): ", i),
                            meaning(name, info)));
  }
}

void require_pivots(const Tensor& pivots, int64_t rows, bool with_pairs) {
  const Tensor numbers = pivots.to_contiguous();
  const int64_t width = numbers.sizes().back();
  for (int64_t begin = 0; begin < numbers.element_count(); begin += width) {
    const int32_t* const row = numbers.data<int32_t>() + begin;
    for (int64_t i = 0; i < width; ++i) {
      const int64_t pivot = row[i];
      bool fits = pivot >= 1 && pivot <= rows;
      if (with_pairs && pivot < 0) {
        fits = -pivot <= rows && i + 1 < width && row[i + 1] == pivot;
        ++i;
      }
      if (fits) continue;
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("the pivot {} is out of range: pivots are from 1 to the {} rows of the matrix{}", pivot,
                      rows, with_pairs ? ", or two equal negative ones" : ""),
          "pass the pivots that the factorization gave");
    }
  }
}

void require_finite(std::string_view name, const Tensor& tensor) {
  const Tensor packed_numbers = tensor.to_contiguous();
  for_linalg_type(tensor.dtype(), [&]<typename T>() {
    using R = kernels::linalg::Real<T>;
    const auto* const numbers = reinterpret_cast<const R*>(packed_numbers.data());
    const auto count =
        static_cast<size_t>(packed_numbers.element_count()) * (is_complex(tensor.dtype()) ? 2 : 1);
    for (size_t i = 0; i < count; ++i) {
      if (std::isfinite(numbers[i])) continue;
      fail_argument(fmt::format(
          "{}: the algorithm cannot converge because the input contains non-finite values.", name));
    }
  });
}

int64_t matrix_count(const Tensor& tensor, size_t without) {
  int64_t count = 1;
  for (size_t d = 0; d + without < tensor.dim(); ++d) count *= tensor.sizes()[d];
  return count;
}
int64_t matrix_offset(const Tensor& tensor, int64_t index, size_t without) {
  int64_t offset = 0;
  for (size_t d = tensor.dim() - without; d-- > 0;) {
    offset += index % tensor.sizes()[d] * tensor.strides()[d];
    index /= tensor.sizes()[d];
  }
  return offset;
}

Tensor column_copy(Context& context, const Tensor& tensor) {
  Tensor copy = context.allocate(column_major<Size>(tensor.dtype(), info_of(tensor).sizes, tensor.device()));
  copy_into(context, tensor, copy);
  return copy;
}
Tensor column_copy(Context& context, const Tensor& tensor, std::span<const int64_t> batch) {
  Dims sizes(batch);
  sizes.push_back(tensor.sizes()[tensor.dim() - 2]);
  sizes.push_back(tensor.sizes()[tensor.dim() - 1]);
  return column_copy(context, expanded(tensor, sizes));
}

void each_matrix(Context& context, int64_t count, double operations,
                 const std::function<void(int64_t)>& body) {
  const Cost cost{.operations = operations * 8 + 1000};  // far from the speed of products
  if (count < context.pool().threads() && cost.nanoseconds() > 64 * kPieceTime) {
    for (int64_t i = 0; i < count; ++i) {
      poll_work();
      body(i);
    }
    return;
  }
  context.pool().for_each_range(static_cast<size_t>(count), cost.grain(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) body(static_cast<int64_t>(i));
  });
}

double cubic_cost(const Tensor& matrices) {
  const size_t rank = matrices.dim();
  const double rows = static_cast<double>(matrices.sizes()[rank - 2]);
  const double columns = static_cast<double>(matrices.sizes()[rank - 1]);
  return rows * columns * std::min(rows, columns) * (is_complex(matrices.dtype()) ? 4 : 1);
}

}  // namespace flambeau::ops
