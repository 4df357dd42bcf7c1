// oneDNN's layers run by a ThreadPool: the work is cut into parts, each a layer of one thread. OpenMP never
// starts a thread this way, so nothing spins while other threads have work, a part that another process
// delays does not hold up the rest, and other loops of the same pool follow without a change of teams. The
// library's calls cannot be interrupted: a part is a row of short ones, and work can be stopped between them.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "flambeau/backends/onednn/layer.h"

namespace flambeau {
class ThreadPool;
}

namespace flambeau::backends::onednn {

// One matrix of constant weights as layers for several shapes have packed it: by the first column and the
// number of columns of a part, in each layout that was asked for.
using PackedColumns = std::map<std::pair<int64_t, int64_t>, std::vector<Weights>>;

// In both constructors `parts` is a wish: a few for each thread of the pool even out unequal speeds. So is
// `steps`, how many calls a part is.
class PooledLayer {
 public:
  // A product cut by rows or, for one row, by columns. Weights are taken from `packed` where they are there,
  // and put there where not.
  PooledLayer(int parts, int64_t steps, const kernels::GemmShape& shape, const float* right,
              const float* bias, kernels::Epilogues epilogues, PackedColumns& packed);
  // A convolution cut by images and, where both have their channels last, by rows of the result.
  PooledLayer(int parts, int64_t steps, const kernels::ConvolutionShape& shape, const float* weights,
              const float* bias, kernels::Epilogues epilogues = {});

  size_t count() const { return parts_.size(); }
  // Calls of the library in one run.
  size_t step_count() const { return steps_.size(); }
  // Bytes for one run of all parts; aligned to 64.
  size_t scratch_bytes() const { return scratch_bytes_; }
  void run(ThreadPool& pool, const float* source, float* out, void* scratch) const;

 private:
  void add(Layer layer, int64_t source, int64_t out);
  // The steps that were added, in `count` parts.
  void divide(int64_t count);

  struct Step {
    Layer layer;
    int64_t source, out;  // offsets in elements
  };
  struct Part {
    size_t begin, end;  // steps
    size_t scratch;     // in bytes; its steps share it
  };
  std::vector<Step> steps_;
  std::vector<Part> parts_;
  size_t scratch_bytes_ = 0;
};

}  // namespace flambeau::backends::onednn
