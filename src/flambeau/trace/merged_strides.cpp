#include "flambeau/trace/merged_strides.h"

#include <utility>
#include <vector>

#include "flambeau/ops/view/rules.h"
#include "flambeau/symbolic/expr.h"

namespace flambeau::trace {
namespace {

using symbolic::SymInt;

// Nothing is asked here.
void join_and_split(const ops::Info<SymInt>& info, const ShortList<SymInt>& sizes,
                    ShortList<SymInt>& strides) {
  if (sizes.size() < 2 || (info.dim() == 1 && sizes.size() == 2)) return;
  const auto is_one = [](const SymInt& size) { return size.expr().is(1); };
  std::vector<std::pair<SymInt, SymInt>> dims;  // size and stride
  for (size_t d = 0; d < info.dim(); ++d) dims.emplace_back(info.sizes[d], info.strides[d]);
  size_t at = 0;
  for (const SymInt& length : sizes) {
    if (at >= dims.size()) {
      if (!is_one(length) || dims.empty()) return;
      dims.emplace_back(1, dims.back().second);
    } else if (!(dims[at].first.expr() == length.expr())) {
      SymInt count = dims[at].first;
      size_t end = at;
      while (!modulo(count, length).expr().is(0)) {
        if (++end == dims.size()) return;
        count = count * dims[end].first;
      }
      SymInt stride = dims[end].second;
      for (size_t d = end; d-- > at;) {
        if (!is_one(dims[d].first)) stride = min(stride, dims[d].second);
      }
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at),
                 dims.begin() + static_cast<std::ptrdiff_t>(end));
      dims[at] = {count, stride};
      if (!(count.expr() == length.expr())) {
        const SymInt inner = floor_div(count, length);
        dims[at] = {length, inner * stride};
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1, {inner, stride});
      }
    }
    ++at;
  }
  if (dims.size() < sizes.size()) return;
  for (size_t d = 0; d < sizes.size(); ++d) strides[d] = dims[d].second;
}

}  // namespace

void set_merged_strides(const ops::Info<SymInt>& self, ops::Info<SymInt>& result) {
  // A copy is made row-major first.
  const bool is_view = ops::view_strides(self, result.sizes).has_value();
  join_and_split(is_view ? self : ops::contiguous<SymInt>(self.dtype, self.sizes), result.sizes,
                 result.strides);
}

}  // namespace flambeau::trace
