#include "flambeau/backends/onednn/pooled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <vector>

#include "flambeau/backends/onednn/test_numbers.h"
#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::backends::onednn {
namespace {

using kernels::aligned_memory;
using kernels::Convolution;
using kernels::ConvolutionShape;
using kernels::Epilogue;
using kernels::ImageOrder;
using kernels::MatrixSteps;

class OnednnPooled : public testing::Test {
 protected:
  ThreadPool pool_{2};
};

TEST_F(OnednnPooled, MatmulEqualsOneLayer) {
  struct Case {
    int64_t rows, columns, depth;
    size_t parts;
  };
  for (const Case& c : {Case{70, 33, 20, 4}, Case{1, 1100, 40, 4}, Case{9, 40, 16, 1}}) {
    const std::vector<float> left = numbers(c.rows * c.depth, 1);
    const std::vector<float> right = numbers(c.depth * c.columns, 2), bias = numbers(c.columns, 3);
    const kernels::GemmShape shape = {.rows = c.rows,
                                      .columns = c.columns,
                                      .depth = c.depth,
                                      .left = MatrixSteps::packed(c.rows, c.depth),
                                      .right = {1, c.depth, 0},
                                      .out = MatrixSteps::packed(c.rows, c.columns)};
    std::vector<float> wanted(static_cast<size_t>(c.rows * c.columns)), found(wanted.size());
    gemm(pool_, shape, left.data(), right.data(), wanted.data(), {.data = bias.data(), .steps = {0, 1, 0}});
    PackedColumns packed;
    for (const int64_t steps : {1, 2}) {
      const PooledLayer pooled(steps == 1 ? 4 : 2, steps, shape, right.data(), bias.data(), {}, packed);
      EXPECT_EQ(pooled.count(), steps == 1 ? c.parts : std::min<size_t>(c.parts, 2));
      EXPECT_EQ(pooled.step_count(), c.parts);
      const std::shared_ptr<void> scratch = aligned_memory(pooled.scratch_bytes() + 1);
      found.assign(found.size(), 0);
      pooled.run(pool_, left.data(), found.data(), scratch.get());
      EXPECT_EQ(found, wanted);
    }
  }
}

// The library's calls are not interrupted; what comes between them is.
TEST_F(OnednnPooled, StopsBetweenSteps) {
  const kernels::GemmShape shape = {.rows = 64,
                                    .columns = 8,
                                    .depth = 8,
                                    .left = MatrixSteps::packed(64, 8),
                                    .right = MatrixSteps::packed(8, 8),
                                    .out = MatrixSteps::packed(64, 8)};
  const std::vector<float> left(512, 1), right(64, 1);
  std::vector<float> out(512);
  PackedColumns packed;
  const PooledLayer pooled(1, 4, shape, right.data(), nullptr, {}, packed);
  EXPECT_EQ(pooled.step_count(), 4U);
  const std::shared_ptr<void> scratch = aligned_memory(pooled.scratch_bytes() + 1);
  const std::atomic<bool> cancel = true;
  const WorkScope scope({.cancel = &cancel});
  try {
    pooled.run(pool_, left.data(), out.data(), scratch.get());
    FAIL() << "nothing stopped it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
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
    const std::vector<float> input = numbers(c.batch * 16 * c.size * c.size, 1);
    const std::vector<float> weights = numbers(32 * 16 * c.kernel * c.kernel, 2), bias = numbers(32, 3);
    std::vector<float> wanted(static_cast<size_t>(c.batch * 32 * shape.output_size()));
    const std::vector<float> residual = numbers(static_cast<int64_t>(wanted.size()), 4);
    Convolution(pool_, shape, weights.data(), bias.data()).run(pool_, input.data(), wanted.data());
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = std::max(0.0F, wanted[i] + residual[i]);
    const Epilogue epilogues[] = {{.kind = Epilogue::Kind::kSum, .alpha = 1},
                                  {.kind = Epilogue::Kind::kRelu}};
    for (const int64_t steps : {1, 3}) {
      const PooledLayer pooled(4, steps, shape, weights.data(), bias.data(), epilogues);
      EXPECT_GT(pooled.count(), c.padding >= c.kernel ? 0U : 1U);
      const std::shared_ptr<void> scratch = aligned_memory(pooled.scratch_bytes() + 1);
      std::vector<float> found = residual;
      pooled.run(pool_, input.data(), found.data(), scratch.get());
      EXPECT_EQ(found, wanted) << "size " << c.size << " kernel " << c.kernel << " steps " << steps;
    }
  }
}

}  // namespace
}  // namespace flambeau::backends::onednn
