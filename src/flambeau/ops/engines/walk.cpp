#include "flambeau/ops/engines/walk.h"

#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {

Walk::Walk(std::span<const int64_t> sizes, std::span<const Tensor* const> operands)
    : operands_(operands.size()) {
  // Strides of nothing may be as large as numbers go.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    count_ = 0;
    return;
  }
  for (const Tensor* const operand : operands) {
    if (operand != nullptr) require_broadcast(operand->sizes(), sizes);
  }
  ShortList<Dimension> all;
  for (size_t d = 0; d < sizes.size(); ++d) {
    count_ *= sizes[d];
    if (sizes[d] == 1) continue;
    Dimension dimension{.size = sizes[d]};
    for (size_t i = 0; i < operands_; ++i) {
      if (operands[i] == nullptr) continue;
      const Tensor& operand = *operands[i];
      const size_t shift = sizes.size() - operand.dim();
      if (d < shift || operand.sizes()[d - shift] == 1) continue;
      dimension.strides[i] = operand.byte_stride(d - shift);
    }
    all.push_back(dimension);
  }
  // Outermost first. Stable, so that dimensions without an order of their own (broadcast ones) keep theirs.
  for (size_t i = 1; i < all.size(); ++i) {
    for (size_t j = i; j > 0 && all[j].strides[0] > all[j - 1].strides[0] && all[j - 1].strides[0] != 0;
         --j) {
      std::swap(all[j], all[j - 1]);
    }
  }
  for (const Dimension& dimension : all) {
    if (!outer_.empty()) {
      Dimension& last = outer_.back();
      bool is_even = true;
      for (size_t i = 0; i < operands_; ++i)
        is_even = is_even && last.strides[i] == dimension.strides[i] * dimension.size;
      if (is_even) {
        last.size *= dimension.size;
        last.strides = dimension.strides;
        continue;
      }
    }
    outer_.push_back(dimension);
  }
  if (!outer_.empty()) {
    inner_size_ = outer_.back().size;
    inner_strides_ = outer_.back().strides;
    outer_.erase(outer_.size() - 1);
  }
}

bool Walk::runs_across(size_t operand, size_t element_size) const {
  const auto size = static_cast<int64_t>(element_size);
  if (step(operand) == size || step(operand) == 0 || row_length() < 16) return false;
  return std::ranges::any_of(outer_, [&](const Dimension& dimension) {
    return dimension.strides[operand] == size && dimension.size >= 16;
  });
}

}  // namespace flambeau::ops
