// Convolutions, transposed convolutions and pooling by oneDNN, float32. Chain layers by giving each one
// Layout::any() and the next one the layout the last one chose; reorder at the ends.
#pragma once

#include <utility>

#include "flambeau/kernels/convolution/convolution.h"
#include "flambeau/kernels/onednn/matmul.h"
#include "flambeau/kernels/onednn/onednn.h"
#include "flambeau/kernels/pooling.h"

namespace flambeau::kernels::onednn {

// out = post(convolution(source) + bias). Weights as in kernels/convolution/convolution.h.
class ConvolutionLayer : public Layer {
 public:
  // `source` and `out` have the sizes of the images (batch, channels and one to three more) and may be wishes
  // (Layout::any); the shape's image orders are not looked at. The weights are packed, the bias (or null) is
  // copied. `same`: see Matmul.
  ConvolutionLayer(const ConvolutionShape& shape, const Layout& source, const Layout& out,
                   const float* weights, const float* bias, std::span<const PostOp> post = {},
                   const Weights& same = {});
  // The layouts that the constructor would choose, without the cost of making the layer.
  static std::pair<Layout, Layout> choose(const ConvolutionShape& shape, const Layout& source,
                                          const Layout& out, std::span<const PostOp> post = {});
  const Layout& source() const { return source_; }
  const Layout& out() const { return out_; }
  const Weights& weights() const { return weights_; }

  void run(const float* source, float* out, void* scratch, std::span<const float* const> operands = {}) const;

 private:
  Layout source_, out_;
  Weights weights_;
};

// Average windows that reach over the end of the padding (sizes rounded up) are divided by the whole window's
// size, as PyTorch does not: leave those to the portable kernel.
class PoolingLayer : public Layer {
 public:
  // `out` may be a wish.
  PoolingLayer(const PoolingShape& shape, const Layout& source, const Layout& out,
               std::span<const PostOp> post = {});
  const Layout& source() const { return source_; }
  const Layout& out() const { return out_; }

  void run(const float* source, float* out, void* scratch, std::span<const float* const> operands = {}) const;

 private:
  Layout source_, out_;
};

}  // namespace flambeau::kernels::onednn
