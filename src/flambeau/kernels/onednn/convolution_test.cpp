#include "flambeau/kernels/onednn/convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/kernels/gemm/scratch.h"
#include "flambeau/kernels/onednn/test_numbers.h"

namespace flambeau::kernels::onednn {
namespace {

std::vector<int64_t> image_sizes(int64_t batch, int64_t channels, const Spatial& size, size_t space) {
  std::vector<int64_t> sizes = {batch, channels};
  sizes.insert(sizes.end(), size.end() - static_cast<ptrdiff_t>(space), size.end());
  return sizes;
}

// Runs a layer on plain memory, with changes of layout before and after it where it wants them.
template <typename Made>
std::vector<float> run_plain(const Made& layer, const Layout& plain_in, const Layout& plain_out,
                             const std::vector<float>& input, const std::vector<float>& start = {},
                             const std::vector<const float*>& operands = {}) {
  const auto turn = [](const Layout& from, const Layout& to, const float* data) {
    std::shared_ptr<void> memory = aligned_memory(to.bytes());
    const Reorder reorder(from, to);
    const std::shared_ptr<void> scratch = aligned_memory(reorder.scratch_bytes() + 1);
    reorder.run(data, static_cast<float*>(memory.get()), scratch.get());
    return memory;
  };
  const std::shared_ptr<void> source = turn(plain_in, layer.source(), input.data());
  std::vector<float> result(plain_out.bytes() / sizeof(float));
  if (!start.empty()) result = start;
  const std::shared_ptr<void> out = turn(plain_out, layer.out(), result.data());
  const std::shared_ptr<void> scratch = aligned_memory(layer.scratch_bytes() + 1);
  layer.run(static_cast<const float*>(source.get()), static_cast<float*>(out.get()), scratch.get(), operands);
  const std::shared_ptr<void> plain = turn(layer.out(), plain_out, static_cast<const float*>(out.get()));
  std::copy_n(static_cast<const float*>(plain.get()), result.size(), result.begin());
  return result;
}

class OnednnConvolution : public testing::Test {
 protected:
  void SetUp() override {
    if (!available()) GTEST_SKIP() << "built without oneDNN";
  }

  std::vector<float> portable(const ConvolutionShape& shape) {
    std::vector<float> result(static_cast<size_t>(shape.batch * shape.out_channels * shape.output_size()));
    make_numbers(shape);
    Convolution(pool_, shape, weights_.data(), bias_.data()).run(pool_, input_.data(), result.data());
    return result;
  }
  void make_numbers(const ConvolutionShape& shape) {
    input_ = numbers(shape.batch * shape.in_channels * shape.input_size(), 1);
    weights_ = numbers(shape.in_channels * shape.out_channels / shape.groups * shape.kernel_size(), 2);
    bias_ = numbers(shape.out_channels, 3);
  }

  void check(const ConvolutionShape& shape, size_t space) {
    const std::vector<float> wanted = portable(shape);
    const std::vector<int64_t> in = image_sizes(shape.batch, shape.in_channels, shape.input, space);
    const std::vector<int64_t> out = image_sizes(shape.batch, shape.out_channels, shape.output(), space);
    const ConvolutionLayer free(shape, Layout::any(in), Layout::any(out), weights_.data(), bias_.data());
    EXPECT_EQ(run_plain(free, Layout::plain(in), Layout::plain(out), input_), wanted)
        << free.implementation();
    const ConvolutionLayer fixed(shape, Layout::plain(in), Layout::plain(out), weights_.data(), bias_.data());
    EXPECT_EQ(fixed.source(), Layout::plain(in));
    EXPECT_EQ(run_plain(fixed, Layout::plain(in), Layout::plain(out), input_), wanted)
        << fixed.implementation();
    const ConvolutionLayer last(shape, Layout::channels_last(in), Layout::channels_last(out), weights_.data(),
                                bias_.data());
    EXPECT_EQ(run_plain(last, Layout::plain(in), Layout::plain(out), input_), wanted)
        << last.implementation();
  }

  ThreadPool pool_{1};
  std::vector<float> input_, weights_, bias_;
};

TEST_F(OnednnConvolution, EqualsThePortableOne) {
  for (const bool transposed : {false, true}) {
    SCOPED_TRACE(transposed ? "transposed" : "");
    check({.transposed = transposed,
           .batch = 2,
           .in_channels = 19,
           .out_channels = 37,
           .input = {1, 9, 11},
           .kernel = {1, 3, 3},
           .padding = {0, 1, 1}},
          2);
    check({.transposed = transposed,
           .in_channels = 16,
           .out_channels = 32,
           .input = {1, 8, 9},
           .kernel = {1, 3, 2},
           .stride = {1, 2, 3},
           .padding = {0, 1, 0},
           .dilation = {1, 2, 1}},
          2);
    check({.transposed = transposed,
           .groups = 4,
           .in_channels = 32,
           .out_channels = 64,
           .input = {1, 7, 7},
           .kernel = {1, 3, 3}},
          2);
    check({.transposed = transposed,
           .groups = 20,
           .in_channels = 20,
           .out_channels = 20,
           .input = {1, 14, 14},
           .kernel = {1, 3, 3},
           .stride = {1, 2, 2},
           .padding = {0, 1, 1}},
          2);
    check({.transposed = transposed,
           .in_channels = 5,
           .out_channels = 6,
           .input = {1, 1, 30},
           .kernel = {1, 1, 4},
           .stride = {1, 1, 2},
           .padding = {0, 0, 1}},
          1);
    check({.transposed = transposed,
           .in_channels = 3,
           .out_channels = 18,
           .input = {4, 5, 6},
           .kernel = {2, 3, 3},
           .padding = {1, 0, 1}},
          3);
  }
  check({.transposed = true,
         .in_channels = 8,
         .out_channels = 8,
         .input = {1, 5, 5},
         .kernel = {1, 3, 3},
         .stride = {1, 2, 2},
         .padding = {0, 1, 1},
         .output_padding = {0, 1, 1}},
        2);
}

TEST_F(OnednnConvolution, FusesSumAndRelu) {
  const ConvolutionShape shape = {
      .in_channels = 16, .out_channels = 32, .input = {1, 8, 8}, .kernel = {1, 3, 3}, .padding = {0, 1, 1}};
  const std::vector<float> plain = portable(shape);
  const std::vector<float> residual = numbers(static_cast<int64_t>(plain.size()), 9);
  const std::vector<int64_t> in = {1, 16, 8, 8}, out = {1, 32, 8, 8};
  const PostOp post[] = {{.kind = PostOp::Kind::kSum, .alpha = 1}, {.kind = PostOp::Kind::kRelu}};
  const ConvolutionLayer layer(shape, Layout::any(in), Layout::any(out), weights_.data(), bias_.data(), post);
  const std::vector<float> found = run_plain(layer, Layout::plain(in), Layout::plain(out), input_, residual);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], std::max(0.0F, plain[i] + residual[i]));
}

TEST_F(OnednnConvolution, LayoutsHaveSizesAndNames) {
  const std::vector<int64_t> sizes = {2, 17, 5, 6};
  EXPECT_EQ(Layout::plain(sizes).bytes(), size_t{2 * 17 * 5 * 6 * 4});
  EXPECT_EQ(Layout::plain(sizes).name(), "2x17x5x6 abcd");
  EXPECT_EQ(Layout::channels_last(sizes).name(), "2x17x5x6 acdb");
  EXPECT_EQ(Layout::any(sizes).name(), "2x17x5x6 any");
  EXPECT_TRUE(Layout::any(sizes).is_any());
  EXPECT_FALSE(Layout::plain(sizes) == Layout::channels_last(sizes));
  EXPECT_EQ(Layout::plain(sizes), Layout::plain(sizes));
  EXPECT_EQ(Layout::plain(sizes).sizes(), sizes);
}

TEST_F(OnednnConvolution, Pools) {
  const PoolingShape shape = {.kind = PoolingKind::kMax,
                              .batch = 2,
                              .channels = 3,
                              .input = {1, 7, 9},
                              .output = {1, 4, 5},
                              .kernel = {1, 3, 3},
                              .stride = {1, 2, 2},
                              .padding = {0, 1, 1}};
  const std::vector<int64_t> in = {2, 3, 7, 9}, out = {2, 3, 4, 5};
  const std::vector<float> input = numbers(2 * 3 * 7 * 9, 4);
  for (const PoolingKind kind : {PoolingKind::kMax, PoolingKind::kAverage, PoolingKind::kAverageOfExisting}) {
    PoolingShape own = shape;
    own.kind = kind;
    const PoolingLayer layer(own, Layout::plain(in), Layout::any(out));
    const std::vector<float> found = run_plain(layer, Layout::plain(in), Layout::plain(out), input);
    size_t at = 0;
    for (int64_t plane = 0; plane < 6; ++plane) {
      for (int64_t y = 0; y < 4; ++y) {
        for (int64_t x = 0; x < 5; ++x, ++at) {
          float most = -std::numeric_limits<float>::infinity(), sum = 0, count = 0;
          for (int64_t i = std::max<int64_t>(0, 2 * y - 1); i < std::min<int64_t>(7, 2 * y + 2); ++i) {
            for (int64_t j = std::max<int64_t>(0, 2 * x - 1); j < std::min<int64_t>(9, 2 * x + 2);
                 ++j, ++count) {
              const float value = input[static_cast<size_t>((plane * 7 + i) * 9 + j)];
              most = std::max(most, value);
              sum += value;
            }
          }
          const float wanted = kind == PoolingKind::kMax       ? most
                               : kind == PoolingKind::kAverage ? sum / 9
                                                               : sum / count;
          ASSERT_NEAR(found[at], wanted, 1e-6) << static_cast<int>(kind) << " at " << at;
        }
      }
    }
  }
}

TEST_F(OnednnConvolution, ElementsOfBlockedArrays) {
  const ConvolutionShape shape = {
      .in_channels = 16, .out_channels = 20, .input = {1, 8, 8}, .kernel = {1, 3, 3}, .padding = {0, 1, 1}};
  const std::vector<float> plain = portable(shape);
  const std::vector<int64_t> in = {1, 16, 8, 8}, out = {1, 20, 8, 8}, scale_sizes = {1, 20, 1, 1};
  const ConvolutionLayer layer(shape, Layout::any(in), Layout::any(out), weights_.data(), bias_.data());
  const Layout blocked = layer.out();
  const auto memory = [](size_t bytes) { return std::vector<float>(bytes / sizeof(float) + 1); };
  std::vector<float> values = memory(blocked.bytes()), doubled = values, found(plain.size());
  std::vector<float> scratch = memory(1 << 20);
  const std::vector<float> scale = numbers(20, 5);
  Reorder(Layout::plain(out), blocked).run(plain.data(), values.data(), scratch.data());
  Elementwise(blocked, {.kind = PostOp::Kind::kRelu}).run(values.data(), values.data(), scratch.data());
  Binary(BinaryKind::kAdd, blocked, blocked)
      .run(values.data(), values.data(), doubled.data(), scratch.data());
  Binary(BinaryKind::kMultiply, blocked, Layout::plain(scale_sizes))
      .run(doubled.data(), scale.data(), doubled.data(), scratch.data());
  Reorder(blocked, Layout::plain(out)).run(doubled.data(), found.data(), scratch.data());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i], 2 * std::max(0.0F, plain[i]) * scale[i / 64]) << "at " << i;
  }
}

TEST_F(OnednnConvolution, RefusesWhatOnednnDoesWrong) {
  const ConvolutionShape shape = {
      .in_channels = 16, .out_channels = 32, .input = {1, 6, 6}, .padding = {0, 2, 2}};
  make_numbers(shape);
  const std::vector<int64_t> in = {1, 16, 6, 6}, out = {1, 32, 10, 10};
  const PostOp post = {.kind = PostOp::Kind::kAdd, .operand = Layout::channels_last(out)};
  try {
    const ConvolutionLayer layer(shape, Layout::channels_last(in), Layout::channels_last(out),
                                 weights_.data(), bias_.data(), std::span(&post, 1));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_EQ(error.message(), "oneDNN adds arrays wrongly behind a convolution to 1x32x10x10 acdb");
  }
}

TEST_F(OnednnConvolution, RefusesALayoutOfOtherSizes) {
  const ConvolutionShape shape = {.in_channels = 4, .out_channels = 4, .input = {1, 8, 8}};
  const std::vector<int64_t> wrong = {1, 4, 8, 9};
  const std::vector<float> weights(16);
  try {
    const ConvolutionLayer layer(shape, Layout::plain(wrong), Layout::plain(wrong), weights.data(), nullptr);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "the layout 1x4x8x9 abcd is not that of a batch of 1 images with 4 channels and size 1x8x8");
  }
}

}  // namespace
}  // namespace flambeau::kernels::onednn
