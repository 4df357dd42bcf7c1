// Epilogues by themselves, and behind products and convolutions of every way to compute them.
#include "flambeau/kernels/epilogue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/kernels/convolution/convolution.h"
#include "flambeau/kernels/gemm/gemm.h"

namespace flambeau::kernels {
namespace {

using Kind = Epilogue::Kind;

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> result(static_cast<size_t>(count));
  for (float& value : result) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
  return result;
}

double by_definition(const Epilogue& epilogue, double x, double before) {
  switch (epilogue.kind) {
    case Kind::kRelu:
      return x < 0 ? epilogue.alpha * x : x;
    case Kind::kClip:
      return std::min<double>(std::max<double>(x, epilogue.alpha), epilogue.beta);
    case Kind::kGeluErf:
      return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case Kind::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Kind::kSilu:
      return x / (1 + std::exp(-x));
    case Kind::kTanh:
      return std::tanh(x);
    case Kind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::kHardSwish:
      return x * std::min(std::max(x + 3, 0.0), 6.0) / 6;
    case Kind::kSum:
      return x + epilogue.alpha * before;
  }
  return 0;
}

const std::vector<Epilogue> kEvery = {{.kind = Kind::kRelu},
                                      {.kind = Kind::kRelu, .alpha = 0.25F},
                                      {.kind = Kind::kClip, .alpha = -1, .beta = 2},
                                      {.kind = Kind::kGeluErf},
                                      {.kind = Kind::kGeluTanh},
                                      {.kind = Kind::kSilu},
                                      {.kind = Kind::kTanh},
                                      {.kind = Kind::kSigmoid},
                                      {.kind = Kind::kHardSwish},
                                      {.kind = Kind::kSum, .alpha = 1},
                                      {.kind = Kind::kSum, .alpha = -0.5F}};

TEST(Epilogue, DoesWhatItSays) {
  const std::vector<float> before = numbers(37, 1);
  for (const Epilogue& epilogue : kEvery) {
    std::vector<float> values;
    for (int i = 0; i < 37; ++i) values.push_back(0.5F * static_cast<float>(i - 18));
    const std::vector<float> given = values;
    apply(std::span(&epilogue, 1), values.data(), before.data(), values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const double wanted = by_definition(epilogue, given[i], before[i]);
      EXPECT_NEAR(values[i], wanted, 1e-6 * std::max(1.0, std::abs(wanted)))
          << static_cast<int>(epilogue.kind) << " of " << given[i];
    }
  }
}

TEST(Epilogue, KeepsNanAndTakesInfinities) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const Epilogue& epilogue : kEvery) {
    float values[] = {NAN, -kInf, kInf};
    const float before[] = {1, 1, 1};
    apply(std::span(&epilogue, 1), values, before, 3);
    EXPECT_TRUE(std::isnan(values[0])) << static_cast<int>(epilogue.kind);
    if (epilogue.kind == Kind::kRelu) {
      EXPECT_EQ(values[1], epilogue.alpha == 0 ? 0 : -kInf);
    } else if (epilogue.kind == Kind::kClip) {
      EXPECT_EQ(values[1], -1);
      EXPECT_EQ(values[2], 2);
    }
  }
}

TEST(Epilogue, AClipToNothingGivesItsUpperEnd) {
  const Epilogue clip = {.kind = Kind::kClip, .alpha = 2, .beta = -1};
  float values[] = {-5, 0, 5};
  apply(std::span(&clip, 1), values, nullptr, 3);
  for (const float value : values) EXPECT_EQ(value, -1);
}

TEST(Epilogue, GoesInOrder) {
  const Epilogue both[] = {{.kind = Kind::kRelu}, {.kind = Kind::kSum, .alpha = 2}};
  float values[] = {-3, 3};
  const float before[] = {-1, 1};
  apply(both, values, before, 2);
  EXPECT_EQ(values[0], -2);
  EXPECT_EQ(values[1], 5);
  EXPECT_TRUE(has_sum(both));
  EXPECT_FALSE(has_sum(std::span(both, 1)));
}

// Chains whose results are whole numbers, so that the order of additions does not matter: with no sum, with
// the sum first and with the sum behind something.
const std::vector<std::vector<Epilogue>> kChains = {
    {{.kind = Kind::kRelu}},
    {{.kind = Kind::kSum, .alpha = 1}},
    {{.kind = Kind::kSum, .alpha = 2}, {.kind = Kind::kRelu, .alpha = -2}},
    {{.kind = Kind::kRelu}, {.kind = Kind::kSum, .alpha = 1}, {.kind = Kind::kClip, .alpha = -9, .beta = 9}}};

void finish(const std::vector<Epilogue>& chain, std::vector<float>& values,
            const std::vector<float>& before) {
  apply(chain, values.data(), before.data(), values.size());
}

void check_product(ThreadPool& pool, int64_t rows, int64_t columns, int64_t depth, bool is_turned) {
  const std::vector<float> left = numbers(rows * depth, 1), right = numbers(depth * columns, 2);
  const std::vector<float> bias = numbers(columns, 3), before = numbers(rows * columns, 4);
  const GemmShape shape = {
      .rows = rows,
      .columns = columns,
      .depth = depth,
      .left = MatrixSteps::packed(rows, depth),
      .right = is_turned ? MatrixSteps{1, depth, 0} : MatrixSteps::packed(depth, columns),
      .out = MatrixSteps::packed(rows, columns)};
  const GemmAddend addend = {.data = bias.data(), .steps = {0, 1, 0}};
  const PackedMatrix packed(pool, PackedMatrix::Side::kRight, DType::kFloat32, depth, columns, shape.right,
                            right.data());
  for (const std::vector<Epilogue>& chain : kChains) {
    std::vector<float> wanted = before;
    gemm(pool, shape, left.data(), right.data(), wanted.data(), addend);
    finish(chain, wanted, before);
    std::vector<float> found = before;
    gemm(pool, shape, left.data(), right.data(), found.data(), addend, 1.0, chain);
    EXPECT_EQ(found, wanted) << rows << " x " << depth << " x " << columns;
    found = before;
    gemm(pool, shape, left.data(), packed, found.data(), addend, 1.0, chain);
    EXPECT_EQ(found, wanted) << rows << " x " << depth << " x " << columns << ", packed";
  }
}

TEST(Epilogue, BehindProducts) {
  ThreadPool pool(2);
  for (const bool is_turned : {false, true}) {
    for (const int64_t rows : {1, 3, 9, 400}) check_product(pool, rows, 45, 33, is_turned);
    check_product(pool, 20, 600, 300, is_turned);
    check_product(pool, 1, 1100, 40, is_turned);
    check_product(pool, 30, 1, 40, is_turned);
  }
}

TEST(Epilogue, BehindATransposedResult) {
  ThreadPool pool(1);
  const int64_t rows = 70, columns = 40, depth = 20;
  const std::vector<float> left = numbers(rows * depth, 1), right = numbers(depth * columns, 2);
  const std::vector<float> before = numbers(rows * columns, 4);
  const GemmShape shape = {.rows = rows,
                           .columns = columns,
                           .depth = depth,
                           .left = MatrixSteps::packed(rows, depth),
                           .right = MatrixSteps::packed(depth, columns),
                           .out = {1, rows, 0}};
  const PackedMatrix packed(pool, PackedMatrix::Side::kRight, DType::kFloat32, depth, columns, shape.right,
                            right.data());
  for (const std::vector<Epilogue>& chain : kChains) {
    std::vector<float> wanted = before, found = before;
    gemm(pool, shape, left.data(), packed, wanted.data());
    finish(chain, wanted, before);
    gemm(pool, shape, left.data(), packed, found.data(), {}, 1.0, chain);
    EXPECT_EQ(found, wanted);
  }
}

void check_convolution(const ConvolutionShape& shape) {
  ThreadPool pool(2);
  const std::vector<float> input = numbers(shape.batch * shape.in_channels * shape.input_size(), 1);
  const std::vector<float> weights =
      numbers(shape.in_channels * shape.out_channels / shape.groups * shape.kernel_size(), 2);
  const std::vector<float> bias = numbers(shape.out_channels, 3);
  const std::vector<float> before = numbers(shape.batch * shape.out_channels * shape.output_size(), 4);
  for (const std::vector<Epilogue>& chain : kChains) {
    std::vector<float> wanted = before, found = before;
    Convolution(pool, shape, weights.data(), bias.data()).run(pool, input.data(), wanted.data());
    finish(chain, wanted, before);
    Convolution(pool, shape, weights.data(), bias.data(), chain).run(pool, input.data(), found.data());
    EXPECT_EQ(found, wanted);
  }
}

TEST(Epilogue, BehindConvolutions) {
  for (const ImageOrder order : {ImageOrder::kChannelsFirst, ImageOrder::kChannelsLast}) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(transposed ? "transposed" : "plain");
      ConvolutionShape shape = {.transposed = transposed,
                                .batch = 2,
                                .in_channels = 6,
                                .out_channels = 10,
                                .input = {1, 9, 11},
                                .kernel = {1, 3, 3},
                                .stride = {1, 2, 1},
                                .padding = {0, 1, 1},
                                .input_order = order,
                                .output_order = order};
      check_convolution(shape);
      shape.groups = 2;
      check_convolution(shape);
      shape.groups = shape.out_channels = 6;  // depthwise
      check_convolution(shape);
      shape.stride = {1, 1, 1};
      check_convolution(shape);
    }
  }
  // Few positions, many channels: the images are the left side, and the result is turned.
  check_convolution(
      {.in_channels = 40, .out_channels = 64, .input = {1, 3, 3}, .kernel = {1, 3, 3}, .padding = {0, 1, 1}});
}

TEST(Epilogue, OnlyBehindSumsOfFloats) {
  ThreadPool pool(1);
  const Epilogue relu;
  const double numbers_of_double[4] = {};
  double out[4];
  const MatrixSteps steps = MatrixSteps::packed(2, 2);
  const GemmShape shape = {.dtype = DType::kFloat64,
                           .rows = 2,
                           .columns = 2,
                           .depth = 2,
                           .left = steps,
                           .right = steps,
                           .out = steps};
  try {
    gemm(pool, shape, numbers_of_double, numbers_of_double, out, {}, 1.0, std::span(&relu, 1));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(error.message(), "an epilogue behind a layer of float64 elements; expected sums in float32");
  }
  ConvolutionShape convolution;
  convolution.dtype = DType::kInt64;
  EXPECT_THROW(Convolution(pool, convolution, out, nullptr, std::span(&relu, 1)), Error);
}

}  // namespace
}  // namespace flambeau::kernels
