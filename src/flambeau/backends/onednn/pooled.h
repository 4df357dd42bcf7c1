// oneDNN's layers run by a ThreadPool: the work is cut into parts, each a layer of one thread. OpenMP never
// starts a thread this way, so nothing spins while other threads have work, a part that another process
// delays does not hold up the rest, and other loops of the same pool follow without a change of teams. The
// library's calls cannot be interrupted: parts are short, and work can be stopped between them.
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

// Cut as cut.h says.
class PooledLayer {
 public:
  // Weights are taken from `packed` where they are there, and put there where not.
  PooledLayer(const kernels::GemmShape& shape, const float* right, const float* bias,
              kernels::Epilogues epilogues, PackedColumns& packed);
  PooledLayer(const kernels::ConvolutionShape& shape, const float* weights, const float* bias,
              kernels::Epilogues epilogues = {});

  size_t count() const { return parts_.size(); }
  // Bytes for one run of all parts; aligned to 64.
  size_t scratch_bytes() const { return scratch_bytes_; }
  void run(ThreadPool& pool, const float* source, float* out, void* scratch) const;

 private:
  struct Part {
    Layer layer;
    int64_t source, out;  // offsets in elements
    // Some channels of an image, or columns of some rows: computed apart, where the library has no good loops
    // that leave gaps. 0: as they lie.
    int64_t pixels = 0, channels = 0;
    size_t own = 0, scratch = 0;  // where these and the layer's scratch memory lie, in bytes
  };
  void add(Part part);
  void run(const Part& part, const float* source, float* out, uint8_t* scratch) const;

  std::vector<Part> parts_;
  int64_t pixel_step_ = 0;  // elements from one pixel of the result to the next
  bool reads_out_ = false;  // adds to what is there
  size_t scratch_bytes_ = 0;
};

}  // namespace flambeau::backends::onednn
