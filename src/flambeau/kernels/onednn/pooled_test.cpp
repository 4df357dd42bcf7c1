#include "flambeau/kernels/onednn/pooled.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "flambeau/base/parallel.h"
#include "flambeau/kernels/gemm/scratch.h"
#include "flambeau/kernels/onednn/test_numbers.h"

namespace flambeau::kernels::onednn {
namespace {

class OnednnPooled : public testing::Test {
 protected:
  void SetUp() override {
    if (!available()) GTEST_SKIP() << "built without oneDNN";
  }
  ThreadPool pool_{2};
};

TEST_F(OnednnPooled, MatmulEqualsOneLayer) {
  struct Case {
    int64_t batch, rows, columns, depth;
    size_t parts;
  };
  for (const Case& c :
       {Case{1, 70, 33, 20, 4}, Case{1, 1, 1100, 40, 4}, Case{6, 5, 40, 16, 4}, Case{1, 9, 40, 16, 1}}) {
    for (const bool constant : {false, true}) {
      if (constant && c.batch > 1) continue;
      const std::vector<float> left = numbers(c.batch * c.rows * c.depth, 1);
      const std::vector<float> right = numbers(c.batch * c.depth * c.columns, 2),
                               bias = numbers(c.columns, 3);
      const GemmShape shape = {.rows = c.rows,
                               .columns = c.columns,
                               .depth = c.depth,
                               .batch = c.batch,
                               .left = MatrixSteps::packed(c.rows, c.depth),
                               .right = {1, c.depth, c.depth * c.columns},
                               .out = MatrixSteps::packed(c.rows, c.columns)};
      std::vector<float> wanted(static_cast<size_t>(c.batch * c.rows * c.columns)), found(wanted.size());
      gemm(pool_, shape, left.data(), right.data(), wanted.data(), {.data = bias.data(), .steps = {0, 1, 0}});
      const MatmulShape same = {c.rows, c.columns, c.depth, c.batch, shape.left, shape.right, shape.out};
      const PooledMatmul pooled(4, same, constant ? right.data() : nullptr, bias.data());
      EXPECT_EQ(pooled.count(), c.parts);
      const std::shared_ptr<void> scratch = aligned_memory(pooled.scratch_bytes() + 1);
      pooled.run(pool_, left.data(), constant ? nullptr : right.data(), found.data(), scratch.get());
      EXPECT_EQ(found, wanted);
    }
  }
}

TEST_F(OnednnPooled, ConvolutionEqualsThePortableOne) {
  struct Case {
    int64_t batch, size, kernel, stride, padding;
  };
  for (const Case& c : {Case{1, 14, 3, 1, 1}, Case{3, 15, 3, 2, 1}, Case{5, 9, 1, 1, 0}, Case{1, 17, 5, 3, 2},
                        Case{1, 2, 3, 1, 1}, Case{1, 6, 1, 1, 2}}) {
    ConvolutionShape shape = {.batch = c.batch,
                              .in_channels = 16,
                              .out_channels = 32,
                              .input = {1, c.size, c.size},
                              .kernel = {1, c.kernel, c.kernel},
                              .stride = {1, c.stride, c.stride},
                              .padding = {0, c.padding, c.padding},
                              .input_order = ImageOrder::kChannelsLast,
                              .output_order = ImageOrder::kChannelsLast};
    const Spatial size = shape.output();
    const std::vector<int64_t> in = {c.batch, 16, c.size, c.size}, out = {c.batch, 32, size[1], size[2]};
    const std::vector<float> input = numbers(c.batch * 16 * c.size * c.size, 1);
    const std::vector<float> weights = numbers(32 * 16 * c.kernel * c.kernel, 2), bias = numbers(32, 3);
    std::vector<float> wanted(static_cast<size_t>(c.batch * 32 * shape.output_size()));
    const std::vector<float> residual = numbers(static_cast<int64_t>(wanted.size()), 4),
                             scale = numbers(32, 5);
    Convolution(pool_, shape, weights.data(), bias.data()).run(pool_, input.data(), wanted.data());
    const bool full = c.padding < c.kernel;  // others have no right way to add a whole array
    for (size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] = std::max(0.0F, (wanted[i] + residual[i]) * scale[i % 32] + (full ? residual[i] : 0));
    }
    const std::vector<int64_t> scale_sizes = {1, 32, 1, 1};
    std::vector<PostOp> post = {{.kind = PostOp::Kind::kSum, .alpha = 1},
                                {.kind = PostOp::Kind::kMultiply, .operand = Layout::plain(scale_sizes)}};
    if (full) post.push_back({.kind = PostOp::Kind::kAdd, .operand = Layout::channels_last(out)});
    post.push_back({.kind = PostOp::Kind::kRelu});
    const PooledConvolution pooled(4, shape, Layout::channels_last(in), Layout::channels_last(out),
                                   weights.data(), bias.data(), post);
    EXPECT_GT(pooled.count(), c.padding >= c.kernel ? 0U : 1U);
    const std::shared_ptr<void> scratch = aligned_memory(pooled.scratch_bytes() + 1);
    std::vector<float> found = residual;
    const float* const operands[] = {scale.data(), residual.data()};
    pooled.run(pool_, input.data(), found.data(), scratch.get(), std::span(operands, full ? 2 : 1));
    EXPECT_EQ(found, wanted) << "size " << c.size << " kernel " << c.kernel;
  }
}

}  // namespace
}  // namespace flambeau::kernels::onednn
