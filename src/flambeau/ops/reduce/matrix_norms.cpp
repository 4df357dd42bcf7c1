// Norms of matrices, made of norms of vectors and of singular values.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using OptionalDims = std::optional<std::span<const Size>>;

Dims two_dims(const Tensor& self, std::span<const Size> dims) {
  if (dims.size() != 2) {
    throw Error(ErrorCode::kInvalidArgument, "linalg.matrix_norm: dim must be a 2-tuple");
  }
  if (rank_of(self) < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.");
  }
  const Dims wrapped{static_cast<int64_t>(wrap_dim(dims[0], rank_of(self))),
                     static_cast<int64_t>(wrap_dim(dims[1], rank_of(self)))};
  if (wrapped[0] == wrapped[1]) {
    throw Error(ErrorCode::kInvalidArgument, "linalg.matrix_norm: dims must be different");
  }
  return wrapped;
}

Tensor vector_norm(Context& context, const Tensor& self, const Value& order, const Value& dims, bool keep,
                   std::optional<DType> dtype) {
  return call_with(context, "aten::linalg_vector_norm", {self, order, dims, keep}, {{"dtype", Value(dtype)}});
}

// The singular values of the matrices, as the last dimension.
Tensor singular_values(Context& context, const Tensor& self, const Dims& dims, std::optional<DType> dtype) {
  Dims order;
  for (int64_t d = 0; d < rank_of(self); ++d) {
    if (d != dims[0] && d != dims[1]) order.push_back(d);
  }
  order.push_back(dims[0]);
  order.push_back(dims[1]);
  const Tensor typed = dtype ? call(context, "aten::to.dtype", self, Value(*dtype)) : self;
  return call(context, "aten::linalg_svdvals", call(context, "aten::permute", typed, order));
}
Tensor put_dims_back(Context& context, Tensor result, const Dims& dims, bool keep) {
  if (!keep) return result;
  for (const int64_t d : {std::min(dims[0], dims[1]), std::max(dims[0], dims[1])}) {
    result = call(context, "aten::unsqueeze", result, d);
  }
  return result;
}
Tensor extreme(Context& context, const Tensor& values, bool largest, int64_t dim, bool keep) {
  // The largest of nothing is 0 here.
  if (largest && size_of(values, dim) == SymInt(0)) {
    return call(context, "aten::sum.dim_IntList", values, Dims{dim}, keep);
  }
  return call(context, largest ? "aten::amax" : "aten::amin", values, Dims{dim}, keep);
}

Tensor matrix_norm(Context& context, const Tensor& self, Scalar order, std::span<const Size> dims, bool keep,
                   std::optional<DType> dtype) {
  const double ord = order.to_double();
  Dims pair = two_dims(self, dims);
  if (std::abs(ord) == 2) {
    const Tensor values = singular_values(context, self, pair, dtype);
    return put_dims_back(context, extreme(context, values, ord > 0, -1, false), pair, keep);
  }
  if (std::abs(ord) != 1 && !std::isinf(ord)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("linalg.matrix_norm: Order {} not supported.", ord));
  }
  if (std::isinf(ord)) std::swap(pair[0], pair[1]);
  if (!keep && pair[0] < pair[1]) --pair[1];
  return extreme(context, vector_norm(context, self, 1.0, Dims{pair[0]}, keep, dtype), ord > 0, pair[1],
                 keep);
}
Tensor matrix_norm_named(Context& context, const Tensor& self, std::string_view order,
                         std::span<const Size> dims, bool keep, std::optional<DType> dtype) {
  const Dims pair = two_dims(self, dims);
  if (order == "fro") return vector_norm(context, self, 2, pair, keep, dtype);
  if (order != "nuc") {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("linalg.matrix_norm: Order {} not supported.", order));
  }
  const Tensor sum =
      call(context, "aten::sum.dim_IntList", singular_values(context, self, pair, dtype), Dims{-1});
  return put_dims_back(context, sum, pair, keep);
}

Tensor linalg_norm(Context& context, const Tensor& self, std::optional<Scalar> order, OptionalDims dims,
                   bool keep, std::optional<DType> dtype) {
  if (order && (dims ? dims->size() == 2 : rank_of(self) == 2)) {
    const Dims both{0, 1};
    return matrix_norm(context, self, *order, dims ? *dims : checked(both), keep, dtype);
  }
  return vector_norm(context, self, order ? order->to_double() : 2.0, dims ? Value(Dims(*dims)) : Value(),
                     keep, dtype);
}
Tensor linalg_norm_named(Context& context, const Tensor& self, std::string_view order, OptionalDims dims,
                         bool keep, std::optional<DType> dtype) {
  const Dims both{0, 1};
  return matrix_norm_named(context, self, order, dims ? *dims : checked(both), keep, dtype);
}

Tensor nuclear_norm(Context& context, const Tensor& self, bool keep) {
  const Dims last{-2, -1};
  return matrix_norm_named(context, self, "nuc", last, keep, std::nullopt);
}
Tensor nuclear_norm_dim(Context& context, const Tensor& self, std::span<const Size> dims, bool keep) {
  return matrix_norm_named(context, self, "nuc", dims, keep, std::nullopt);
}

}  // namespace

void define_matrix_norms(Library& library) {
  library
      .define(
          "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, "
          "ScalarType? dtype=None) -> Tensor")
      .composite<matrix_norm>();
  library
      .define(
          "aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool "
          "keepdim=False, *, ScalarType? dtype=None) -> Tensor")
      .composite<matrix_norm_named>();
  library
      .define(
          "aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
          "ScalarType? dtype=None) -> Tensor")
      .composite<linalg_norm>();
  library
      .define(
          "aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
          "ScalarType? dtype=None) -> Tensor")
      .composite<linalg_norm_named>();
  library.define("aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor")
      .decomposition<nuclear_norm>();
  library.define("aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor")
      .decomposition<nuclear_norm_dim>();
}

}  // namespace flambeau::ops
