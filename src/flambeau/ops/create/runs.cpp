#include "flambeau/ops/create/runs.h"

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

void copy_from(Context& context, const Info<Size>& from, const Info<Size>& to, const Tensor& source,
               const Tensor& target, const std::vector<IndexRuns>& runs, size_t dim) {
  if (dim == runs.size()) {
    copy_into(context, viewed(source, from), viewed(target, to));
    return;
  }
  int64_t at = 0;
  for (const IndexRun& run : runs[dim]) {
    if (run.count == 0) continue;
    Info<Size> part = from;
    part.offset += run.from * from.strides[dim];
    part.sizes[dim] = run.count;
    part.strides[dim] = run.step * from.strides[dim];
    copy_from(context, part, part_info(to, dim, at, run.count), source, target, runs, dim + 1);
    at += run.count;
  }
}

}  // namespace

void copy_runs(Context& context, const Tensor& from, const Tensor& to, const std::vector<IndexRuns>& runs) {
  copy_from(context, info_of(from), info_of(to), from, to, runs, 0);
}

}  // namespace flambeau::ops
