// oneDNN's layers run by a ThreadPool: the work is cut into parts, each a layer of one thread. OpenMP never
// starts a thread this way, so nothing spins while other threads have work, a part that another process
// delays does not hold up the rest, and other loops of the same pool follow without a change of teams.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "flambeau/kernels/onednn/convolution.h"
#include "flambeau/kernels/onednn/matmul.h"

namespace flambeau {
class ThreadPool;
}

namespace flambeau::kernels::onednn {

// What both classes below are: layers with the places of their arrays.
class Parts {
 public:
  size_t count() const { return scratch_.size(); }
  // Bytes for one run of all parts; aligned to 64.
  size_t scratch_bytes() const { return scratch_bytes_; }

 protected:
  // An operand's address moves with the part where it has the result's sizes.
  std::vector<const float*> operands_at(std::span<const float* const> operands, int64_t out_offset) const;
  void add_scratch(size_t bytes);

  std::vector<size_t> scratch_;  // where each part's begins
  std::vector<bool> moves_;      // operands that move
  size_t scratch_bytes_ = 0;
};

// One matrix of constant weights as layers for several shapes have packed it: by the first column and the
// number of columns of a part, in each layout that was asked for.
using PackedColumns = std::map<std::pair<int64_t, int64_t>, std::vector<Weights>>;

// A product cut by batch, by rows, or, for one row, by columns.
class PooledMatmul : public Parts {
 public:
  // As Matmul. `parts` is a wish: a few for each thread of the pool even out unequal speeds. Constant weights
  // are taken from `packed` where they are there, and put there where not; null to share with nobody.
  PooledMatmul(int parts, const MatmulShape& shape, const float* right, const float* bias,
               std::span<const PostOp> post = {}, PackedColumns* packed = nullptr);
  void run(ThreadPool& pool, const float* left, const float* right, float* out, void* scratch,
           std::span<const float* const> operands = {}) const;

 private:
  struct Part {
    Matmul layer;
    int64_t left, right, out;  // offsets in elements
  };
  std::vector<Part> parts_;
};

// A convolution cut by images and, where its layouts have channels last, by rows of the result (planes in
// three dimensions).
class PooledConvolution : public Parts {
 public:
  // As ConvolutionLayer. On processors with AVX-512 Layout::any() becomes channels last unless there are
  // groups of several channels.
  PooledConvolution(int parts, const ConvolutionShape& shape, const Layout& source, const Layout& out,
                    const float* weights, const float* bias, std::span<const PostOp> post = {});
  const Layout& source() const { return source_; }
  const Layout& out() const { return out_; }
  void run(ThreadPool& pool, const float* source, float* out, void* scratch,
           std::span<const float* const> operands = {}) const;

 private:
  struct Part {
    ConvolutionLayer layer;
    int64_t source, out;
  };
  Layout source_, out_;
  std::vector<Part> parts_;
};

}  // namespace flambeau::kernels::onednn
