// Matrix products by oneDNN, float32.
#pragma once

#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/kernels/onednn/onednn.h"

namespace flambeau::kernels::onednn {

// Constant weights in the form a layer reads them; layers for other numbers of rows can share them.
class Weights {
 public:
  Weights() = default;
  explicit operator bool() const { return memory_ != nullptr; }
  const Layout& layout() const { return layout_; }
  const std::shared_ptr<const void>& memory() const { return memory_; }

  Weights(Layout layout, std::shared_ptr<const void> memory)
      : layout_(std::move(layout)), memory_(std::move(memory)) {}

 private:
  Layout layout_;
  std::shared_ptr<const void> memory_;
};

struct MatmulShape {
  int64_t rows = 0, columns = 0, depth = 0;
  int64_t batch = 1;  // a batch step of 0 repeats an operand
  MatrixSteps left = {}, right = {}, out = {};
};

// out = post(left * right + bias).
class Matmul : public Layer {
 public:
  // right, when not null, is constant (its batch must be 1) and is packed now into the layout that suits the
  // shape; run() then takes no right side. bias has one number per column, or is null; it is copied. `same`
  // are the weights of other layers, made from the same numbers: shared where the layout suits.
  Matmul(const MatmulShape& shape, const float* right, const float* bias, std::span<const PostOp> post = {},
         std::span<const Weights> same = {});
  const Weights& weights() const { return weights_; }

  void run(const float* left, const float* right, float* out, void* scratch,
           std::span<const float* const> operands = {}) const;

 private:
  Weights weights_;
};

// out = alpha * left * right + beta * out, without preparation. Row steps in elements; a matrix that lies
// transposed in memory has the flag. Errors: kInvalidArgument for steps smaller than a row.
void sgemm(int64_t rows, int64_t columns, int64_t depth, float alpha, const float* left, bool left_transposed,
           int64_t left_step, const float* right, bool right_transposed, int64_t right_step, float beta,
           float* out, int64_t out_step);

}  // namespace flambeau::kernels::onednn
