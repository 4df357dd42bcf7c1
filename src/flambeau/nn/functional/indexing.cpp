#include "flambeau/nn/functional/indexing.h"

#include <fmt/format.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/info.h"
#include "flambeau/symbolic/expr.h"

namespace flambeau::nn {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// Without asking whoever traces, for whom the answer would be a guard: PyTorch leaves a slice out only where
// it knows that it takes everything.
bool is_known_at_most(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return a.literal() <= b.literal();
  return !a.is_literal() && !b.is_literal() && a.expr() == b.expr();
}

bool is_all(const Slice& slice) {
  return !slice.start && !slice.end && slice.step.is_literal() && slice.step.literal() == 1;
}

// PyTorch has two ways. With a symbol in the brackets, and no tensor, a slice is passed on as it was written,
// and a bare colon is nothing. Otherwise it is passed on from 0 to the largest number, or left out where it
// is known to take everything; but a single slice is never left out.
enum class Way { kSymbols, kSingle, kNumbers };

bool is_symbol(const std::optional<SymInt>& number) { return number && !number->is_literal(); }

Way way_of(const std::vector<Index>& indices) {
  bool has_symbols = false, has_tensors = false;
  for (const Index& index : indices) {
    if (const auto* const number = std::get_if<SymInt>(&index.data())) has_symbols |= is_symbol(*number);
    if (const auto* const slice = std::get_if<Slice>(&index.data()))
      has_symbols |= is_symbol(slice->start) || is_symbol(slice->end) || is_symbol(slice->step);
    has_tensors |= std::holds_alternative<Tensor>(index.data());
  }
  if (has_symbols && !has_tensors) return Way::kSymbols;
  return indices.size() == 1 ? Way::kSingle : Way::kNumbers;
}

// Nothing where it takes everything.
std::optional<Tensor> slice_at(const Input& where, const Tensor& x, int64_t dim, const Slice& slice,
                               Way way) {
  const Value step = int_value(slice.step);
  if (way == Way::kSymbols) {
    if (is_all(slice)) return {};
    return call(where, "aten::slice.Tensor",
                {x, dim, optional_int(slice.start), optional_int(slice.end), step});
  }
  const SymInt start = slice.start.value_or(0), end = slice.end.value_or(kEnd);
  const bool is_from_start =
      start.is_literal() && start.literal() == 0 && slice.step.is_literal() && slice.step.literal() == 1;
  if (way == Way::kNumbers && is_from_start && is_known_at_most(size(x, dim), end)) return {};
  return call(where, "aten::slice.Tensor", {x, dim, int_value(start), int_value(end), step});
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
  std::vector<Index> indices;
  if (dim < 0) indices.emplace_back(Ellipsis);
  for (int64_t d = 0; d < dim; ++d) indices.emplace_back(Slice());
  indices.emplace_back(Slice(start, end, step));
  for (int64_t d = dim; d < -1; ++d) indices.emplace_back(Slice());
  return at(x, indices);
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
  const Way way = way_of(indices);
  Tensor result = x.tensor;
  TensorList tensors;
  bool is_changed = false;
  int64_t d = 0;
  for (const Index& index : indices) {
    if (const auto* const number = std::get_if<SymInt>(&index.data())) {
      result = call(x, "aten::select.int", {result, d, int_value(*number)});
      is_changed = true;
    } else if (const auto* const range = std::get_if<Slice>(&index.data())) {
      const std::optional<Tensor> part = slice_at(x, result, d++, *range, way);
      is_changed = is_changed || part;
      if (part) result = *part;
    } else if (std::holds_alternative<EllipsisTag>(index.data())) {
      d += rank - given;
    } else if (std::holds_alternative<NewAxisTag>(index.data())) {
      result = call(x, "aten::unsqueeze", {result, d++});
      is_changed = true;
    } else {
      tensors.resize(static_cast<size_t>(d));
      tensors.push_back(std::get<Tensor>(index.data()));
      d += consumed(index);
    }
  }
  if (!tensors.empty()) return call(x, "aten::index.Tensor", {result, tensors});
  return is_changed ? result : call(x, "aten::alias", {result});
}

}  // namespace flambeau::nn
