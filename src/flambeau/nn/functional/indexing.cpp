#include "flambeau/nn/functional/indexing.h"

#include <fmt/format.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/ops/info.h"

namespace flambeau::nn {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// Without asking whoever traces: the answer would be a guard.
bool is_known_at_most(const SymInt& a, const SymInt& b) {
  if (b.is_literal() && (b.literal() == kEnd || (a.is_literal() && a.literal() <= b.literal()))) return true;
  return !a.is_literal() && !b.is_literal() && a.expr() == b.expr();
}

Tensor slice_at(const Input& where, const Tensor& x, int64_t dim, const Slice& slice) {
  const SymInt start = slice.start.value_or(0), end = slice.end.value_or(kEnd);
  const bool is_plain =
      start.is_literal() && start.literal() == 0 && slice.step.is_literal() && slice.step.literal() == 1;
  if (is_plain && is_known_at_most(size(x, dim), end)) return x;
  return call(where, "aten::slice.Tensor", {x, dim, int_value(start), int_value(end), int_value(slice.step)});
}

// How many dimensions of the tensor an index speaks of.
int64_t consumed(const Index& index) {
  if (const auto* const tensor = std::get_if<Tensor>(&index.data()))
    return tensor->dtype() == DType::kBool ? dim(*tensor) : 1;
  return std::holds_alternative<EllipsisTag>(index.data()) || std::holds_alternative<NewAxisTag>(index.data())
             ? 0
             : 1;
}

}  // namespace

Tensor slice(Input x, int64_t dim, const std::optional<SymInt>& start, const std::optional<SymInt>& end,
             const SymInt& step) {
  const auto at = static_cast<int64_t>(ops::wrap_dim(dim, static_cast<size_t>(nn::dim(x.tensor))));
  return slice_at(x, x.tensor, at, Slice(start, end, step));
}

Tensor at(Input x, const std::vector<Index>& indices) {
  int64_t given = 0;
  int ellipses = 0;
  for (const Index& index : indices) {
    given += consumed(index);
    ellipses += std::holds_alternative<EllipsisTag>(index.data()) ? 1 : 0;
  }
  const int64_t rank = dim(x.tensor);
  if (given > rank || ellipses > 1) {
    throw Error(ErrorCode::kInvalidArgument,
                ellipses > 1
                    ? "a tensor is indexed with more than one Ellipsis"
                    : fmt::format("{} indices are given for a tensor of {} dimensions", given, rank));
  }
  Tensor result = x.tensor;
  TensorList tensors;
  int64_t d = 0;
  for (const Index& index : indices) {
    if (const auto* const number = std::get_if<SymInt>(&index.data())) {
      result = call(x, "aten::select.int", {result, d, int_value(*number)});
    } else if (const auto* const range = std::get_if<Slice>(&index.data())) {
      result = slice_at(x, result, d++, *range);
    } else if (std::holds_alternative<EllipsisTag>(index.data())) {
      d += rank - given;
    } else if (std::holds_alternative<NewAxisTag>(index.data())) {
      result = call(x, "aten::unsqueeze", {result, d++});
    } else {
      tensors.resize(static_cast<size_t>(d));
      tensors.push_back(std::get<Tensor>(index.data()));
      d += consumed(index);
    }
  }
  return tensors.empty() ? result : call(x, "aten::index.Tensor", {result, tensors});
}

}  // namespace flambeau::nn
