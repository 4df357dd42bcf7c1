// Copies whose source index is, dimension by dimension, a piecewise straight line of the result's: rolled,
// flipped and padded tensors. Each combination of pieces is one strided copy.
#pragma once

#include <vector>

#include "flambeau/ops/mechanism/context.h"

namespace flambeau::ops {

// `count` elements of the result, one after the other, come from index `from`, `from + step`, ... of the
// source.
struct IndexRun {
  int64_t from = 0;
  int64_t count = 0;
  int64_t step = 1;
};
using IndexRuns = std::vector<IndexRun>;

// The runs of each dimension make up the result's size there. Runs without elements are skipped.
void copy_runs(Context& context, const Tensor& from, const Tensor& to, const std::vector<IndexRuns>& runs);

// The whole dimension as it is.
inline IndexRuns whole_run(int64_t size) { return {{0, size, 1}}; }

}  // namespace flambeau::ops
