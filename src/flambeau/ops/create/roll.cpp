// Elements moved along dimensions, those that fall off come in at the other end.
#include <fmt/format.h>

#include "flambeau/ops/create/runs.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> roll_shape(const Info<N>& self, std::span<const N> shifts, std::span<const Size> dims) {
  if (shifts.empty()) fail_view("`shifts` required");
  if (dims.empty() ? shifts.size() != 1 : shifts.size() != dims.size()) {
    fail_view(
        fmt::format("shifts and dimensions must align. shifts: {}, dims:{}", shifts.size(), dims.size()));
  }
  for (const int64_t dim : dims) {
    if (self.dim() == 0)
      fail_view(fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
    wrap_dim(dim, self.dim());
  }
  if (dims.empty()) return contiguous(self.dtype, self.sizes, self.device);
  if (self.element_count() == N(0)) {
    return {.dtype = self.dtype,
            .sizes = self.sizes,
            .strides = like_strides(self, MemoryFormat::kPreserve),
            .device = self.device};
  }
  return formatted(self.dtype, self.sizes, suggested_format(self), self.device);
}

IndexRuns rolled(int64_t size, int64_t shift) {
  const int64_t start = modulo(-modulo(shift, size), size);
  return {{start, size - start, 1}, {0, start, 1}};
}

void roll_kernel(Context& context, const Tensor& self, std::span<const Size> shifts,
                 std::span<const Size> dims, Tensor& out) {
  if (dims.empty()) {  // as if it had one dimension
    Tensor flat = self;
    if (!self.is_contiguous()) {
      flat = context.allocate(self.dtype(), self.sizes());
      copy_into(context, self, flat);
    }
    const int64_t count = self.element_count();
    const auto line = [&](const Tensor& tensor) {
      return tensor.with_geometry({Dims{count}, Dims{1}, tensor.offset()});
    };
    copy_runs(context, line(flat), line(out), {rolled(count, shifts[0])});
    return;
  }
  std::vector<int64_t> total(self.dim(), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t d = wrap_dim(dims[i], self.dim());
    total[d] = total[d] + modulo(shifts[i], self.sizes()[d]);
  }
  std::vector<IndexRuns> runs;
  for (size_t d = 0; d < self.dim(); ++d) runs.push_back(rolled(self.sizes()[d], total[d]));
  copy_runs(context, self, out, runs);
}

Tensor roll_parts(Context& c, const Tensor& self, std::span<const SymInt> shifts,
                  std::span<const Size> dims) {
  if (dims.empty()) {
    const Tensor rolled = call(c, "aten::roll", call(c, "aten::flatten.using_ints", self), shifts, Dims{0});
    return call(c, "aten::view", rolled, sizes_of(self));
  }
  if (dims.size() > 1) {
    Tensor result = self;
    for (size_t i = 0; i < dims.size(); ++i)
      result = call(c, "aten::roll", result, SymIntList{shifts[i]}, Dims{dims[i]});
    return result;
  }
  const int64_t dim = wrapped_dim(dims[0], rank_of(self));
  const SymInt size = size_of(self, dim);
  const SymInt start = modulo(size - shifts[0], size);
  const Tensor line = parts::arange(c, 0, size, {}, self.device());
  const Tensor places = call(c, "aten::fmod.Scalar", parts::add(c, line, start), size);
  return call(c, "aten::index_select", self, dim, places);
}

}  // namespace

void define_roll(Library& library) {
  library.define("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor")
      .shape<roll_shape<Size>, roll_shape<SymInt>>()
      .kernel<roll_kernel>()
      .core_decomposition<roll_parts>();
}

}  // namespace flambeau::ops
