#include "flambeau/backends/onednn/pooled.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <vector>

#include "flambeau/backends/onednn/cut.h"
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

TEST_F(OnednnPooled, MatmulEqualsThePortableOne) {
  struct Case {
    int64_t rows, columns, depth;
    size_t parts;
  };
  for (const Case& c : {Case{9, 40, 16, 1}, Case{1, 768, 768, 16}, Case{8, 1000, 300, 11},
                        Case{70, 100, 2000, 6}, Case{300, 64, 64, 9}}) {
    const std::vector<float> left = numbers(c.rows * c.depth, 1);
    const std::vector<float> right = numbers(c.depth * c.columns, 2), bias = numbers(c.columns, 3);
    const kernels::GemmShape shape = {.rows = c.rows,
                                      .columns = c.columns,
                                      .depth = c.depth,
                                      .left = MatrixSteps::packed(c.rows, c.depth),
                                      .right = {1, c.depth, 0},
                                      .out = MatrixSteps::packed(c.rows, c.columns)};
    const std::vector<float> residual = numbers(c.rows * c.columns, 4);
    std::vector<float> wanted(residual.size()), found = residual;
    gemm(pool_, shape, left.data(), right.data(), wanted.data(), {.data = bias.data(), .steps = {0, 1, 0}});
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = std::max(0.0F, wanted[i] + residual[i]);
    const Epilogue epilogues[] = {{.kind = Epilogue::Kind::kSum, .alpha = 1},
                                  {.kind = Epilogue::Kind::kRelu}};
    PackedColumns packed;
    const PooledLayer pooled(shape, right.data(), bias.data(), epilogues, packed);
    EXPECT_EQ(pooled.count(), c.parts) << c.rows << " " << c.columns << " " << c.depth;
    const std::shared_ptr<void> scratch = aligned_memory(pooled.scratch_bytes() + 1);
    pooled.run(pool_, left.data(), found.data(), scratch.get());
    EXPECT_EQ(found, wanted);
  }
}

TEST_F(OnednnPooled, ConvolutionEqualsThePortableOne) {
  struct Case {
    int64_t batch, channels, size, kernel, stride, padding;
    bool is_cut;
  };
  for (const Case& c :
       {Case{1, 16, 40, 3, 1, 1, true}, Case{3, 16, 15, 3, 2, 1, true}, Case{5, 32, 30, 1, 1, 0, true},
        Case{1, 32, 40, 5, 3, 2, true}, Case{1, 16, 2, 3, 1, 1, false}, Case{1, 16, 6, 1, 1, 2, false},
        Case{1, 256, 4, 3, 1, 1, true}, Case{2, 112, 7, 3, 2, 1, true}}) {
    ConvolutionShape shape = {.batch = c.batch,
                              .in_channels = c.channels,
                              .out_channels = 2 * c.channels,
                              .input = {1, c.size, c.size},
                              .kernel = {1, c.kernel, c.kernel},
                              .stride = {1, c.stride, c.stride},
                              .padding = {0, c.padding, c.padding},
                              .input_order = ImageOrder::kChannelsLast,
                              .output_order = ImageOrder::kChannelsLast};
    const std::vector<float> input = numbers(c.batch * c.channels * c.size * c.size, 1);
    const std::vector<float> weights = numbers(2 * c.channels * c.channels * c.kernel * c.kernel, 2);
    const std::vector<float> bias = numbers(2 * c.channels, 3);
    std::vector<float> wanted(static_cast<size_t>(c.batch * 2 * c.channels * shape.output_size()));
    const std::vector<float> residual = numbers(static_cast<int64_t>(wanted.size()), 4);
    Convolution(pool_, shape, weights.data(), bias.data()).run(pool_, input.data(), wanted.data());
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = std::max(0.0F, wanted[i] + residual[i]);
    const Epilogue epilogues[] = {{.kind = Epilogue::Kind::kSum, .alpha = 1},
                                  {.kind = Epilogue::Kind::kRelu}};
    const PooledLayer pooled(shape, weights.data(), bias.data(), epilogues);
    EXPECT_EQ(pooled.count() > 1, c.is_cut) << "size " << c.size << " kernel " << c.kernel;
    const std::shared_ptr<void> scratch = aligned_memory(pooled.scratch_bytes() + 1);
    std::vector<float> found = residual;
    pooled.run(pool_, input.data(), found.data(), scratch.get());
    EXPECT_EQ(found, wanted) << "size " << c.size << " kernel " << c.kernel;
  }
}

// The library's calls are not interrupted; what comes between them is.
TEST_F(OnednnPooled, StopsBetweenParts) {
  const kernels::GemmShape shape = {.rows = 1024,
                                    .columns = 8,
                                    .depth = 8,
                                    .left = MatrixSteps::packed(1024, 8),
                                    .right = MatrixSteps::packed(8, 8),
                                    .out = MatrixSteps::packed(1024, 8)};
  const std::vector<float> left(8192, 1), right(64, 1);
  std::vector<float> out(8192);
  PackedColumns packed;
  const PooledLayer pooled(shape, right.data(), nullptr, {}, packed);
  EXPECT_EQ(pooled.count(), 8U);
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

TEST_F(OnednnPooled, NoPartIsTooLongToBeStopped) {
  const ProductCut product = cut_product({.rows = 4096, .columns = 1 << 15, .depth = 1 << 15});
  EXPECT_LE((4096 + product.rows - 1) / product.rows * product.columns * (1 << 15), 1 << 29);
  const ConvolutionShape shape = {.batch = 1,
                                  .in_channels = 256,
                                  .out_channels = 256,
                                  .input = {1, 4096, 4096},
                                  .kernel = {1, 3, 3},
                                  .padding = {0, 1, 1},
                                  .input_order = kernels::ImageOrder::kChannelsLast,
                                  .output_order = kernels::ImageOrder::kChannelsLast};
  const ConvolutionCut cuts = cut_convolution(shape);
  const double operations = 256.0 * 256 * 9 * 4096 * 4096;
  EXPECT_LE(operations / static_cast<double>(cuts.rows * cuts.channels), 1.1 * (1 << 29));
}

TEST_F(OnednnPooled, CutsProductsOfAnyRowsAtTheSameColumns) {
  for (const auto& [columns, depth, wanted] : {std::array<int64_t, 3>{768, 768, 48},
                                               {2304, 768, 144},
                                               {3072, 768, 96},
                                               {64, 64, 64},
                                               {50257, 768, 1584}}) {
    for (const int64_t rows : {1, 8, 128, 1024}) {
      const ProductCut found = cut_product({.rows = rows, .columns = columns, .depth = depth});
      EXPECT_EQ(found.columns, wanted) << columns << " of " << rows;
      EXPECT_LE((rows + found.rows - 1) / found.rows, 128);
    }
  }
}

TEST_F(OnednnPooled, CutsSmallImagesByChannelsAndLargeOnesByRows) {
  const auto cut_of = [](int64_t size, int64_t channels) {
    return cut_convolution({.in_channels = channels,
                            .out_channels = channels,
                            .input = {1, size, size},
                            .kernel = {1, 3, 3},
                            .padding = {0, 1, 1},
                            .input_order = ImageOrder::kChannelsLast,
                            .output_order = ImageOrder::kChannelsLast});
  };
  const ConvolutionCut small = cut_of(8, 512), large = cut_of(128, 32);
  EXPECT_GE(small.channels, 8);
  EXPECT_EQ(small.rows * small.channels, 16);
  EXPECT_EQ(large.channels, 1);
  EXPECT_GE(large.rows, 16);
}

}  // namespace
}  // namespace flambeau::backends::onednn
