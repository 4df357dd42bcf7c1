// oneDNN's layers, seen without its headers: prepared once and run many times; float32 only.
//
// Threads: oneDNN brings OpenMP. A layer runs with as many threads as a ThreadsScope had set on the thread
// that made it; they are OpenMP's, not a ThreadPool's. Run layers from a ThreadPool's loop only with one.
// Layers are immutable: any number of threads may run one at a time, each with scratch memory of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "flambeau/kernels/convolution/convolution.h"
#include "flambeau/kernels/gemm/gemm.h"

namespace flambeau::backends::onednn {

// How many threads layers made on the calling thread use, at least 1, while it lives.
class ThreadsScope {
 public:
  explicit ThreadsScope(int threads);
  ~ThreadsScope();
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
  int before_;
};

// Constant weights in the form a layer reads them; layers for other sizes can share them.
struct PackedArray;
using Weights = std::shared_ptr<const PackedArray>;

class Layer {
 public:
  struct Prepared;
  // They run one after the other; each reads the source from another element on, and all write the same out.
  explicit Layer(std::vector<std::unique_ptr<Prepared>> pieces);
  ~Layer();
  Layer(Layer&&) noexcept;
  Layer& operator=(Layer&&) noexcept;

  // Bytes that a run needs to work in; aligned to 64.
  size_t scratch_bytes() const;
  // Adds its weights to those that others may share, where they are not there yet.
  void share_weights(std::vector<Weights>& same) const;
  void run(const float* source, float* out, void* scratch) const;

 private:
  std::vector<std::unique_ptr<Prepared>> pieces_;
};

// In both: weights are packed now into the layout that suits the shape, unless `same`, the weights of other
// layers made from the same numbers, have them so. The bias, a number for each column or output channel, or
// null, is copied. Errors: kUnsupported for what the library does not have.

// out = epilogues(source * right + bias): one product, no batch.
Layer matmul(const kernels::GemmShape& shape, const float* right, const float* bias,
             kernels::Epilogues epilogues = {}, std::span<const Weights> same = {});
// out = epilogues(convolution(source) + bias): of images in two dimensions, not a transposed one. Long sums
// are taken in pieces, by the input's channels: the library adds up all products of a result one after the
// other, and so the error grows with their number.
Layer convolution(const kernels::ConvolutionShape& shape, const float* weights, const float* bias,
                  kernels::Epilogues epilogues = {}, std::span<const Weights> same = {});

}  // namespace flambeau::backends::onednn
