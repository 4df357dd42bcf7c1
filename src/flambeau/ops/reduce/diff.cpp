// Differences of neighbours.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

// ---- differences of neighbours
Tensor diff(Context& context, const Tensor& self, Size n, Size dim, const Tensor* prepend,
            const Tensor* append) {
  if (rank_of(self) == 0) {
    throw Error(ErrorCode::kInvalidArgument, "diff expects input to be at least one-dimensional");
  }
  if (n < 0) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("order must be non-negative but got {}", n));
  }
  if (n == 0) return call(context, "aten::clone", self);
  Tensor whole = self;
  if (prepend != nullptr || append != nullptr) {
    TensorList pieces;
    if (prepend != nullptr) pieces.push_back(*prepend);
    pieces.push_back(self);
    if (append != nullptr) pieces.push_back(*append);
    whole = call(context, "aten::cat", pieces, dim);
  }
  const char* const minus = whole.dtype() == DType::kBool ? "aten::logical_xor" : "aten::sub.Tensor";
  for (int64_t i = 0; i < n && !(size_of(whole, dim) == SymInt(0)); ++i) {
    const SymInt length = size_of(whole, dim) - SymInt(1);
    const Tensor before = call(context, "aten::narrow", whole, dim, 0, length);
    whole = call(context, minus, call(context, "aten::narrow", whole, dim, 1, length), before);
  }
  return whole;
}

}  // namespace

void define_diff(Library& library) {
  library
      .define(
          "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor")
      .composite<diff>();
}

}  // namespace flambeau::ops
