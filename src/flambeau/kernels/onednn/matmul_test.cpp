#include "flambeau/kernels/onednn/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::kernels::onednn {
namespace {

std::vector<float> real_numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  std::vector<float> result(static_cast<size_t>(count));
  for (float& value : result) value = between(random);
  return result;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-4) << "at " << i;
}

class OnednnMatmul : public testing::Test {
 protected:
  void SetUp() override {
    if (!available()) GTEST_SKIP() << "built without oneDNN";
  }
  ThreadPool pool_{1};
};

TEST_F(OnednnMatmul, EqualsThePortableProduct) {
  for (const int64_t batch : {1, 3}) {
    for (const bool transposed : {false, true}) {
      for (const bool constant : {false, true}) {
        const int64_t rows = 7, columns = 45, depth = 33;
        const bool one_right = constant || batch == 1;
        const std::vector<float> left = real_numbers(batch * rows * depth, 1);
        const std::vector<float> right = real_numbers((one_right ? 1 : batch) * depth * columns, 2);
        const std::vector<float> bias = real_numbers(columns, 3);
        MatrixSteps right_steps = MatrixSteps::packed(depth, columns);
        if (transposed) right_steps = {1, depth, depth * columns};
        if (one_right) right_steps.batch = 0;
        const GemmShape shape = {.rows = rows,
                                 .columns = columns,
                                 .depth = depth,
                                 .batch = batch,
                                 .left = MatrixSteps::packed(rows, depth),
                                 .right = right_steps,
                                 .out = MatrixSteps::packed(rows, columns)};
        std::vector<float> wanted(static_cast<size_t>(batch * rows * columns));
        gemm(pool_, shape, left.data(), right.data(), wanted.data(),
             {.data = bias.data(), .steps = {0, 1, 0}});

        const MatmulShape same = {rows, columns, depth, batch, shape.left, shape.right, shape.out};
        const Matmul matmul(same, constant ? right.data() : nullptr, bias.data());
        const std::shared_ptr<void> scratch = aligned_memory(matmul.scratch_bytes() + 1);
        std::vector<float> found(wanted.size());
        matmul.run(left.data(), constant ? nullptr : right.data(), found.data(), scratch.get());
        expect_near(found, wanted);
      }
    }
  }
}

TEST_F(OnednnMatmul, FusesWhatFollows) {
  const int64_t rows = 5, columns = 20, depth = 16;
  const std::vector<float> left = real_numbers(rows * depth, 1), right = real_numbers(depth * columns, 2);
  const std::vector<float> residual = real_numbers(rows * columns, 3);
  const MatmulShape shape = {.rows = rows,
                             .columns = columns,
                             .depth = depth,
                             .left = MatrixSteps::packed(rows, depth),
                             .right = MatrixSteps::packed(depth, columns),
                             .out = MatrixSteps::packed(rows, columns)};
  const Matmul plain(shape, right.data(), nullptr);
  const std::shared_ptr<void> scratch = aligned_memory(1 << 20);
  std::vector<float> product(static_cast<size_t>(rows * columns));
  plain.run(left.data(), nullptr, product.data(), scratch.get());

  const auto check = [&](const PostOp& post, auto wanted, bool operand) {
    const Matmul fused(shape, right.data(), nullptr, std::span(&post, 1), std::span(&plain.weights(), 1));
    ASSERT_LE(fused.scratch_bytes(), size_t{1} << 20);
    std::vector<float> found = residual;
    const float* const operands[] = {residual.data()};
    fused.run(left.data(), nullptr, found.data(), scratch.get(), std::span(operands, operand ? 1 : 0));
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], wanted(product[i], residual[i]), 2e-5)
          << "post-op " << static_cast<int>(post.kind) << " of " << product[i];
    }
  };
  using Kind = PostOp::Kind;
  const auto sigmoid = [](float x) { return 1 / (1 + std::exp(-x)); };
  check({.kind = Kind::kRelu}, [](float x, float) { return std::max(x, 0.0F); }, false);
  check(
      {.kind = Kind::kClip, .alpha = 0, .beta = 1}, [](float x, float) { return std::clamp(x, 0.0F, 1.0F); },
      false);
  check(
      {.kind = Kind::kGeluErf}, [](float x, float) { return x * 0.5F * (1 + std::erf(x / std::sqrt(2.0F))); },
      false);
  check(
      {.kind = Kind::kGeluTanh},
      [](float x, float) {
        return 0.5F * x *
               (1 + std::tanh(std::sqrt(2 / static_cast<float>(M_PI)) * (x + 0.044715F * x * x * x)));
      },
      false);
  check({.kind = Kind::kSilu}, [&](float x, float) { return x * sigmoid(x); }, false);
  check({.kind = Kind::kSigmoid}, [&](float x, float) { return sigmoid(x); }, false);
  check({.kind = Kind::kTanh}, [](float x, float) { return std::tanh(x); }, false);
  check(
      {.kind = Kind::kHardSwish}, [](float x, float) { return x * std::clamp(x + 3, 0.0F, 6.0F) / 6; },
      false);
  check({.kind = Kind::kLinear, .alpha = 2, .beta = 1}, [](float x, float) { return 2 * x + 1; }, false);
  check({.kind = Kind::kSum, .alpha = 1}, [](float x, float y) { return x + y; }, false);
  const Layout layout = Layout::plain(std::vector<int64_t>{rows, columns});
  check({.kind = Kind::kAdd, .operand = layout}, [](float x, float y) { return x + y; }, true);
  check({.kind = Kind::kMultiply, .operand = layout}, [](float x, float y) { return x * y; }, true);
}

TEST_F(OnednnMatmul, RunsInSeveralThreadsAtOnce) {
  const int64_t size = 48;
  const std::vector<float> left = real_numbers(size * size, 1), right = real_numbers(size * size, 2);
  const MatrixSteps steps = MatrixSteps::packed(size, size);
  const MatmulShape shape = {size, size, size, 1, steps, steps, steps};
  const ThreadsScope threads(1);
  const Matmul matmul(shape, right.data(), nullptr);
  std::vector<float> wanted(static_cast<size_t>(size * size));
  const std::shared_ptr<void> scratch = aligned_memory(matmul.scratch_bytes() + 1);
  matmul.run(left.data(), nullptr, wanted.data(), scratch.get());
  std::vector<std::thread> runners;
  for (int i = 0; i < 4; ++i) {
    runners.emplace_back([&] {
      std::vector<float> found(wanted.size());
      const std::shared_ptr<void> own = aligned_memory(matmul.scratch_bytes() + 1);
      for (int turn = 0; turn < 50; ++turn) {
        std::fill(found.begin(), found.end(), 0.0F);
        matmul.run(left.data(), nullptr, found.data(), own.get());
        EXPECT_EQ(found, wanted);
      }
    });
  }
  for (std::thread& runner : runners) runner.join();
}

TEST_F(OnednnMatmul, Sgemm) {
  const int64_t rows = 9, columns = 20, depth = 11;
  const std::vector<float> left = real_numbers(rows * depth, 1), right = real_numbers(depth * columns, 2);
  std::vector<float> found = real_numbers(rows * columns, 3);
  std::vector<float> wanted = found;
  const GemmShape shape = {.rows = rows,
                           .columns = columns,
                           .depth = depth,
                           .left = {1, rows},
                           .right = {columns, 1},
                           .out = {columns, 1}};
  gemm(pool_, shape, left.data(), right.data(), wanted.data(),
       {.data = wanted.data(), .steps = shape.out, .beta = 2.0}, 0.5);
  sgemm(rows, columns, depth, 0.5F, left.data(), true, rows, right.data(), false, columns, 2.0F, found.data(),
        columns);
  expect_near(found, wanted);
}

TEST_F(OnednnMatmul, SaysWhatIsWrong) {
  const std::vector<float> right(16);
  const MatrixSteps steps = MatrixSteps::packed(4, 4);
  try {
    const Matmul matmul({4, 4, 4, 2, steps, steps, steps}, right.data(), nullptr);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "constant weights of a product are one matrix");
  }
}

TEST(OnednnOff, SaysSo) {
  if (available()) GTEST_SKIP() << "built with oneDNN";
  const MatrixSteps steps = MatrixSteps::packed(4, 4);
  try {
    const Matmul matmul({4, 4, 4, 1, steps, steps, steps}, nullptr, nullptr);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_EQ(error.message(), "this build has no oneDNN");
  }
}

}  // namespace
}  // namespace flambeau::kernels::onednn
