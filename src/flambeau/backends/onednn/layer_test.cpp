#include "flambeau/backends/onednn/layer.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "flambeau/backends/onednn/test_numbers.h"
#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::backends::onednn {
namespace {

using kernels::aligned_memory;
using kernels::ConvolutionShape;
using kernels::Epilogue;
using kernels::GemmShape;
using kernels::ImageOrder;
using kernels::MatrixSteps;

std::vector<float> run(const Layer& layer, const std::vector<float>& source, std::vector<float> out) {
  const std::shared_ptr<void> scratch = aligned_memory(layer.scratch_bytes() + 1);
  layer.run(source.data(), out.data(), scratch.get());
  return out;
}

class OnednnLayer : public testing::Test {
 protected:
  void check(const ConvolutionShape& given) {
    for (const ImageOrder order : {ImageOrder::kChannelsFirst, ImageOrder::kChannelsLast}) {
      ConvolutionShape shape = given;
      shape.input_order = shape.output_order = order;
      const std::vector<float> input = numbers(shape.batch * shape.in_channels * shape.input_size(), 1);
      const std::vector<float> weights =
          numbers(shape.in_channels * shape.out_channels / shape.groups * shape.kernel_size(), 2);
      const std::vector<float> bias = numbers(shape.out_channels, 3);
      std::vector<float> wanted = numbers(shape.batch * shape.out_channels * shape.output_size(), 4);
      const std::vector<float> before = wanted;
      const Epilogue epilogues[] = {{.kind = Epilogue::Kind::kSum, .alpha = 1},
                                    {.kind = Epilogue::Kind::kRelu}};
      kernels::Convolution(pool_, shape, weights.data(), bias.data(), epilogues)
          .run(pool_, input.data(), wanted.data());
      EXPECT_EQ(run(convolution(shape, weights.data(), bias.data(), epilogues), input, before), wanted);
    }
  }
  ThreadPool pool_{1};
};

TEST_F(OnednnLayer, ConvolutionsEqualThePortableOnes) {
  check({.batch = 2,
         .in_channels = 19,
         .out_channels = 37,
         .input = {1, 9, 11},
         .kernel = {1, 3, 3},
         .padding = {0, 1, 1}});
  check({.in_channels = 77,  // sums in pieces
         .out_channels = 32,
         .input = {1, 6, 5},
         .kernel = {1, 3, 3},
         .padding = {0, 1, 1}});
  check({.in_channels = 16,
         .out_channels = 32,
         .input = {1, 8, 9},
         .kernel = {1, 3, 2},
         .stride = {1, 2, 3},
         .padding = {0, 1, 0},
         .dilation = {1, 2, 1}});
  check({.groups = 4, .in_channels = 32, .out_channels = 64, .input = {1, 7, 7}, .kernel = {1, 3, 3}});
  check({.groups = 20,
         .in_channels = 20,
         .out_channels = 20,
         .input = {1, 14, 14},
         .kernel = {1, 3, 3},
         .stride = {1, 2, 2},
         .padding = {0, 1, 1}});
  check({.in_channels = 8,
         .out_channels = 8,
         .input = {1, 5, 6},
         .kernel = {1, 3, 3},
         .padding = {0, 0, 1},
         .padding_after = {0, 2, 0}});
}

TEST_F(OnednnLayer, ProductsEqualThePortableOnes) {
  const int64_t rows = 7, columns = 45, depth = 33;
  const std::vector<float> left = numbers(rows * depth, 1), right = numbers(depth * columns, 2);
  const std::vector<float> bias = numbers(columns, 3), before = numbers(rows * columns, 4);
  for (const bool transposed : {false, true}) {
    const GemmShape shape = {
        .rows = rows,
        .columns = columns,
        .depth = depth,
        .left = MatrixSteps::packed(rows, depth),
        .right = transposed ? MatrixSteps{1, depth, 0} : MatrixSteps::packed(depth, columns),
        .out = MatrixSteps::packed(rows, columns)};
    std::vector<float> wanted = before;
    kernels::gemm(pool_, shape, left.data(), right.data(), wanted.data(),
                  {.data = bias.data(), .steps = {0, 1, 0}});
    EXPECT_EQ(run(matmul(shape, right.data(), bias.data()), left, before), wanted);
  }
}

TEST_F(OnednnLayer, SharesWeightsThatLieAsItWantsThem) {
  const MatrixSteps steps = MatrixSteps::packed(48, 48);
  const GemmShape shape = {
      .rows = 48, .columns = 48, .depth = 48, .left = steps, .right = steps, .out = steps};
  const std::vector<float> right = numbers(48 * 48, 2);
  const Layer first = matmul(shape, right.data(), nullptr);
  std::vector<Weights> same;
  first.share_weights(same);
  const Layer second = matmul(shape, right.data(), nullptr, {}, same);
  second.share_weights(same);
  EXPECT_EQ(same.size(), 1U);
  matmul(shape, right.data(), nullptr).share_weights(same);
  EXPECT_EQ(same.size(), 2U);
}

TEST_F(OnednnLayer, RunsInSeveralThreadsAtOnce) {
  const int64_t size = 48;
  const std::vector<float> left = numbers(size * size, 1), right = numbers(size * size, 2);
  const MatrixSteps steps = MatrixSteps::packed(size, size);
  const ThreadsScope threads(1);
  const Layer layer =
      matmul({.rows = size, .columns = size, .depth = size, .left = steps, .right = steps, .out = steps},
             right.data(), nullptr);
  const std::vector<float> wanted = run(layer, left, left);
  std::vector<std::thread> runners;
  for (int i = 0; i < 4; ++i) {
    runners.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) EXPECT_EQ(run(layer, left, left), wanted);
    });
  }
  for (std::thread& runner : runners) runner.join();
}

TEST_F(OnednnLayer, SaysWhatItCannotPrepare) {
  try {
    const std::vector<float> weights(64);
    convolution({.in_channels = 4, .out_channels = 4, .input = {1, 2, 2}, .kernel = {1, 4, 1}},
                weights.data(), nullptr);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(error.message().starts_with("oneDNN cannot prepare a convolution: ")) << error.message();
  }
}

}  // namespace
}  // namespace flambeau::backends::onednn
