// What operators with indices share: x[a, :, b], and rows of elements combined with others.
//
// An index expression is a plan: which dimensions of the tensor the indices stand for, and how the result
// lies. To run it, the indices become offsets in bytes, each checked against its dimension; then blocks of
// elements that no index touches are copied, or combined, at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/info.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {

// "index 5 is out of bounds for dimension 0 with size 3".
[[noreturn]] void fail_index(int64_t index, size_t dim, int64_t size);
// PyTorch's words for indices of another type.
void require_index_dtype(DType dtype);
[[noreturn]] void fail_indices(std::span<const std::string> sizes);

// The elements of a tensor of indices, row-major, as int64.
std::vector<int64_t> read_indices(const Tensor& tensor);
// The same tensor as packed int64 (itself when it is).
Tensor packed_indices(Context& context, const Tensor& tensor);

// None stands in a list of indices as a tensor that cannot index.
template <typename N>
bool is_none(const Info<N>& index) {
  return index.dtype == DType::kFloat32 && index.dim() == 0;
}

template <typename N>
struct IndexPlan {
  ShortList<int64_t> order;  // the tensor's dimensions: `before`, those indexed, the rest
  size_t before = 0;
  size_t indexed = 0;
  ShortList<N> index_sizes;  // of all indices, broadcast
  Info<N> result;
};

// The indices are integers or None; masks have become integers before.
template <typename N>
IndexPlan<N> plan_index(const Info<N>& self, std::span<const Info<N>> indices) {
  IndexPlan<N> plan;
  if (indices.size() > self.dim()) {
    throw Error(ErrorCode::kInvalidArgument, "too many indices for tensor of dimension " +
                                                 std::to_string(self.dim()) + " (got " +
                                                 std::to_string(indices.size()) + ")");
  }
  ShortList<int64_t> with_index;
  ShortList<int64_t> without;
  bool is_first = true;
  for (size_t d = 0; d < self.dim(); ++d) {
    const bool is_indexed = d < indices.size() && !is_none(indices[d]);
    (is_indexed ? with_index : without).push_back(static_cast<int64_t>(d));
    if (!is_indexed) continue;
    require_index_dtype(indices[d].dtype);
    plan.index_sizes = is_first ? indices[d].sizes : broadcast(plan.index_sizes, indices[d].sizes);
    is_first = false;
  }
  plan.indexed = with_index.size();
  const bool is_adjacent =
      plan.indexed == 0 || static_cast<size_t>(with_index.back() - with_index[0]) + 1 == plan.indexed;
  // Indices that stand apart put their dimensions in front.
  plan.before = is_adjacent && plan.indexed > 0 ? static_cast<size_t>(with_index[0]) : 0;
  for (size_t i = 0; i < plan.before; ++i) plan.order.push_back(without[i]);
  for (const int64_t d : with_index) plan.order.push_back(d);
  for (size_t i = plan.before; i < without.size(); ++i) plan.order.push_back(without[i]);

  // The layout is that of elementwise work over the tensor, whose indexed dimensions do not move, and the
  // indices.
  Info<N> source{.dtype = self.dtype, .device = self.device};
  for (size_t i = 0; i < plan.before; ++i) {
    source.sizes.push_back(self.sizes[static_cast<size_t>(plan.order[i])]);
    source.strides.push_back(self.strides[static_cast<size_t>(plan.order[i])]);
  }
  for (const N& size : plan.index_sizes) {
    source.sizes.push_back(size);
    source.strides.push_back(N(0));
  }
  for (size_t i = plan.before + plan.indexed; i < plan.order.size(); ++i) {
    source.sizes.push_back(self.sizes[static_cast<size_t>(plan.order[i])]);
    source.strides.push_back(self.strides[static_cast<size_t>(plan.order[i])]);
  }
  std::vector<Info<N>> operands;
  operands.push_back(source);
  for (const int64_t d : with_index) {
    const Info<N>& index = indices[static_cast<size_t>(d)];
    Info<N> operand{.dtype = DType::kInt64};
    const size_t shift = plan.index_sizes.size() - index.dim();
    operand.sizes = ShortList<N>(source.sizes.size(), N(1));
    operand.strides = ShortList<N>(source.sizes.size(), N(0));
    for (size_t i = 0; i < index.dim(); ++i) {
      operand.sizes[plan.before + shift + i] = index.sizes[i];
      operand.strides[plan.before + shift + i] = index.strides[i];
    }
    operands.push_back(std::move(operand));
  }
  std::vector<const Info<N>*> pointers;
  for (const Info<N>& operand : operands) pointers.push_back(&operand);
  plan.result = {.dtype = self.dtype,
                 .sizes = source.sizes,
                 .strides = elementwise_strides<N>(source.sizes, pointers),
                 .device = self.device};
  return plan;
}

// How elements that are written meet those that are there.
enum class Combine : uint8_t { kReplace, kAdd, kMultiply, kLargest, kSmallest };
// Both of that type; steps in bytes. Throws Error(kUnsupported) for types it has no meaning for.
using CombineRow = void (*)(uint8_t* to, int64_t to_step, const uint8_t* from, int64_t from_step,
                            size_t count);
CombineRow combine_row(Combine combine, DType dtype);

// Reads self at the indices into `out`, of the plan's sizes.
void read_indexed(Context& context, const Tensor& self, const IndexPlan<Size>& plan,
                  std::span<const Tensor> indices, const Tensor& out);
// Writes `values`, which broadcast to the plan's sizes, to self at the indices.
void write_indexed(Context& context, const Tensor& self, const IndexPlan<Size>& plan,
                   std::span<const Tensor> indices, const Tensor& values, Combine combine);

// The tensor seen with other sizes, which it broadcasts to.
Tensor broadcast_view(const Tensor& tensor, std::span<const int64_t> sizes);

// Positions of elements that are not zero: one list for each dimension, row-major order.
std::vector<std::vector<int64_t>> nonzero_positions(const Tensor& tensor);
// Masks replaced by positions, as tensors.
std::vector<Tensor> expand_masks(Context& context, const Tensor& self, std::span<const Tensor> indices);

}  // namespace flambeau::ops
