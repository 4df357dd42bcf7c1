// The C++ side of bench/dense: multiplies or convolves one shape with one engine, and says how long a run
// takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/kernels/convolution/convolution.h"
#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/kernels/gemm/scratch.h"
#include "flambeau/kernels/onednn/convolution.h"
#include "flambeau/kernels/onednn/matmul.h"
#include "flambeau/kernels/onednn/pooled.h"

namespace {

using namespace flambeau;           // NOLINT: a program of its own
using namespace flambeau::kernels;  // NOLINT

float* numbers(int64_t count) {
  static std::vector<std::shared_ptr<void>> kept;
  kept.push_back(aligned_memory(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(float)));
  auto* const values = static_cast<float*>(kept.back().get());
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17 - 8) / 8;
  return values;
}

// Runs for about that long and gives the seconds of each run; small runs are timed in bundles.
std::vector<double> timed(double seconds, const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  run();
  auto start = Clock::now();
  run();
  const int bundle = std::max(1, static_cast<int>(1e-4 / since(start)));
  std::vector<double> result;
  const auto begin = Clock::now();
  while (since(begin) < seconds || result.size() < 5) {
    start = Clock::now();
    for (int i = 0; i < bundle; ++i) run();
    result.push_back(since(start) / bundle);
  }
  return result;
}

std::function<void()> linear(ThreadPool& pool, std::string_view engine, int64_t rows, int64_t depth,
                             int64_t columns) {
  float* const left = numbers(rows * depth);
  float* const right = numbers(depth * columns);
  float* const out = numbers(rows * columns);
  float* const bias = numbers(columns);
  const MatrixSteps weights = {1, depth, 0};  // as a linear layer keeps them
  const GemmShape shape = {.rows = rows,
                           .columns = columns,
                           .depth = depth,
                           .left = MatrixSteps::packed(rows, depth),
                           .right = weights,
                           .out = MatrixSteps::packed(rows, columns)};
  const GemmAddend addend = {.data = bias, .steps = {0, 1, 0}};
  if (engine == "packed") {
    const PackedMatrix packed(pool, PackedMatrix::Side::kRight, DType::kFloat32, depth, columns, weights,
                              right);
    return [=, &pool] { gemm(pool, shape, left, packed, out, addend); };
  }
  if (engine == "portable") return [=, &pool] { gemm(pool, shape, left, right, out, addend); };
  if (engine == "rows") {
    GemmShape plain = shape;
    plain.right = MatrixSteps::packed(depth, columns);
    return [=, &pool] { gemm(pool, plain, left, right, out, addend); };
  }
  const onednn::MatmulShape same = {rows, columns, depth, 1, shape.left, shape.right, shape.out};
  if (engine == "pooled") {
    const auto made = std::make_shared<onednn::PooledMatmul>(pool.threads(), same, right, bias);
    void* const scratch = numbers(static_cast<int64_t>(made->scratch_bytes()) / 4 + 1);
    return [=, &pool] { made->run(pool, left, nullptr, out, scratch); };
  }
  const auto matmul = std::make_shared<onednn::Matmul>(same, engine == "onednn" ? right : nullptr, bias);
  fmt::print(stderr, "{}\n", matmul->implementation());
  void* const scratch = numbers(static_cast<int64_t>(matmul->scratch_bytes()) / 4 + 1);
  return [=] { matmul->run(left, right, out, scratch); };
}

// As attention multiplies: queries with keys (transposed) or weights with values.
std::function<void()> batched(ThreadPool& pool, std::string_view engine, const std::vector<int64_t>& n) {
  const bool transposed = n[4] != 0;
  const GemmShape shape = {
      .rows = n[1],
      .columns = n[3],
      .depth = n[2],
      .batch = n[0],
      .left = MatrixSteps::packed(n[1], n[2]),
      .right = transposed ? MatrixSteps{1, n[2], n[2] * n[3]} : MatrixSteps::packed(n[2], n[3]),
      .out = MatrixSteps::packed(n[1], n[3])};
  float* const left = numbers(n[0] * n[1] * n[2]);
  float* const right = numbers(n[0] * n[2] * n[3]);
  float* const out = numbers(n[0] * n[1] * n[3]);
  if (engine == "portable") return [=, &pool] { gemm(pool, shape, left, right, out); };
  const onednn::MatmulShape same = {n[1], n[3], n[2], n[0], shape.left, shape.right, shape.out};
  if (engine == "pooled") {
    const auto made = std::make_shared<onednn::PooledMatmul>(pool.threads(), same, nullptr, nullptr);
    void* const scratch = numbers(static_cast<int64_t>(made->scratch_bytes()) / 4 + 1);
    return [=, &pool] { made->run(pool, left, right, out, scratch); };
  }
  const auto made = std::make_shared<onednn::Matmul>(same, nullptr, nullptr);
  fmt::print(stderr, "{}\n", made->implementation());
  void* const scratch = numbers(static_cast<int64_t>(made->scratch_bytes()) / 4 + 1);
  return [=] { made->run(left, right, out, scratch); };
}

std::function<void()> convolution(ThreadPool& pool, std::string_view engine, const std::vector<int64_t>& n) {
  const ConvolutionShape shape = {.batch = n[0],
                                  .groups = n[6],
                                  .in_channels = n[1],
                                  .out_channels = n[2],
                                  .input = {1, n[3], n[3]},
                                  .kernel = {1, n[4], n[4]},
                                  .stride = {1, n[5], n[5]},
                                  .padding = {0, n[4] / 2, n[4] / 2}};
  float* const weights = numbers(n[1] / n[6] * n[2] * n[4] * n[4]);
  float* const bias = numbers(n[2]);
  if (engine == "portable" || engine == "last") {
    ConvolutionShape own = shape;
    if (engine == "last") own.input_order = own.output_order = ImageOrder::kChannelsLast;
    const auto made = std::make_shared<Convolution>(pool, own, weights, bias);
    float* const in = numbers(shape.batch * shape.in_channels * shape.input_size());
    float* const out = numbers(shape.batch * shape.out_channels * shape.output_size());
    return [=, &pool] { made->run(pool, in, out); };
  }
  const Spatial size = shape.output();
  const std::vector<int64_t> in_sizes = {n[0], n[1], n[3], n[3]}, out_sizes = {n[0], n[2], size[1], size[2]};
  using onednn::Layout;
  if (engine == "pooled") {
    const auto made = std::make_shared<onednn::PooledConvolution>(
        pool.threads(), shape, Layout::any(in_sizes), Layout::any(out_sizes), weights, bias);
    float* const in = numbers(static_cast<int64_t>(made->source().bytes()) / 4);
    float* const out = numbers(static_cast<int64_t>(made->out().bytes()) / 4);
    void* const scratch = numbers(static_cast<int64_t>(made->scratch_bytes()) / 4 + 1);
    return [=, &pool] { made->run(pool, in, out, scratch); };
  }
  const bool any = engine == "onednn";
  const auto made = std::make_shared<onednn::ConvolutionLayer>(
      shape, any ? Layout::any(in_sizes) : Layout::plain(in_sizes),
      any ? Layout::any(out_sizes) : Layout::plain(out_sizes), weights, bias);
  fmt::print(stderr, "{} {} {}\n", made->implementation(), made->source().name(), made->out().name());
  float* const in = numbers(static_cast<int64_t>(made->source().bytes()) / 4);
  float* const out = numbers(static_cast<int64_t>(made->out().bytes()) / 4);
  void* const scratch = numbers(static_cast<int64_t>(made->scratch_bytes()) / 4 + 1);
  return [=] { made->run(in, out, scratch); };
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 7) {
    fmt::print(stderr,
               "bench_dense ENGINE THREADS SECONDS linear ROWS DEPTH COLUMNS\n"
               "bench_dense ENGINE THREADS SECONDS batch BATCH ROWS DEPTH COLUMNS TRANSPOSED\n"
               "bench_dense ENGINE THREADS SECONDS conv BATCH IN OUT SIZE KERNEL STRIDE GROUPS\n");
    return 2;
  }
  const int threads = std::atoi(arguments[1].c_str());
  std::vector<int64_t> sizes;
  for (size_t i = 4; i < arguments.size(); ++i) sizes.push_back(std::atoll(arguments[i].c_str()));
  ThreadPool pool(threads);
  onednn::set_threads(threads);
  const std::function<void()> work = arguments[3] == "linear"
                                         ? linear(pool, arguments[0], sizes[0], sizes[1], sizes[2])
                                     : arguments[3] == "batch" ? batched(pool, arguments[0], sizes)
                                                               : convolution(pool, arguments[0], sizes);
  std::vector<double> seconds = timed(std::atof(arguments[2].c_str()), work);
  std::sort(seconds.begin(), seconds.end());
  fmt::print("{{\"best\": {}, \"median\": {}}}\n", seconds.front(), seconds[seconds.size() / 2]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const flambeau::Error& error) {
    fmt::print(stderr, "bench_dense: {}\n", error.what());
    return 1;
  }
}
