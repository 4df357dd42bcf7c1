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

#include "flambeau/backends/backend.h"
#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/kernels/convolution/convolution.h"
#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/kernels/gemm/scratch.h"
#include "flambeau/ops/mechanism/library.h"

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

// A layer of a backend, over tensors of these sizes.
std::function<void()> layer_run(ThreadPool& pool, backends::LayerPointer layer, const Tensor& in,
                                const Tensor& out) {
  const std::shared_ptr<const backends::PreparedLayer> kept = std::move(layer);
  const auto library = std::make_shared<const ops::Library>();
  const std::shared_ptr<Storage> scratch = Storage::uninitialized(kept->scratch_bytes());
  return [=, &pool] {
    ops::Context context(*library, pool);
    const Value arguments[] = {Value(in)};
    Tensor outputs[] = {out};
    kept->run(context, arguments, outputs, *scratch);
  };
}

Tensor tensor(std::vector<int64_t> sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  auto* const data = reinterpret_cast<uint8_t*>(numbers(count));
  return Tensor::contiguous(DType::kFloat32, Dims(sizes),
                            Storage::borrow(data, static_cast<size_t>(count) * sizeof(float), nullptr));
}

std::function<void()> linear(ThreadPool& pool, std::string_view engine, int64_t rows, int64_t depth,
                             int64_t columns) {
  const Tensor left = tensor({rows, depth}), right = tensor({columns, depth}), bias = tensor({columns});
  const Tensor out = tensor({rows, columns});
  GemmShape shape = {.rows = rows,
                     .columns = columns,
                     .depth = depth,
                     .left = MatrixSteps::packed(rows, depth),
                     .right = {1, depth, 0},  // as a linear layer keeps them
                     .out = MatrixSteps::packed(rows, columns)};
  if (engine == "plain" || engine == "rows") {
    if (engine == "rows") shape.right = MatrixSteps::packed(depth, columns);
    return [=, &pool] {
      gemm(pool, shape, left.data(), right.data(), out.mutable_data(),
           {.data = bias.data(), .steps = {0, 1, 0}});
    };
  }
  const ops::Library library;
  ops::Context context(library, pool);
  backends::PackedWeights packed;
  return layer_run(pool, backends::make_backend(engine)->product(context, {shape, right, bias, {}}, packed),
                   left, out);
}

// As attention multiplies: queries with keys (transposed) or weights with values.
std::function<void()> batched(ThreadPool& pool, const std::vector<int64_t>& n) {
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
  return [=, &pool] { gemm(pool, shape, left, right, out); };
}

std::function<void()> convolution(ThreadPool& pool, std::string_view engine, const std::vector<int64_t>& n) {
  ConvolutionShape shape = {.batch = n[0],
                            .groups = n[6],
                            .in_channels = n[1],
                            .out_channels = n[2],
                            .input = {1, n[3], n[3]},
                            .kernel = {1, n[4], n[4]},
                            .stride = {1, n[5], n[5]},
                            .padding = {0, n[4] / 2, n[4] / 2}};
  // Sizes say how many numbers there are; the orders, how they lie.
  if (engine != "portable") shape.input_order = shape.output_order = ImageOrder::kChannelsLast;
  const Tensor in = tensor({n[0], n[1], n[3], n[3]});
  const Tensor out = tensor({n[0], n[2], shape.output()[1], shape.output()[2]});
  const ops::Library library;
  ops::Context context(library, pool);
  const auto backend = backends::make_backend(engine == "last" ? "portable" : engine);
  return layer_run(pool,
                   backend->convolution(context, {.shape = shape,
                                                  .weight = tensor({n[2], n[1] / n[6], n[4], n[4]}),
                                                  .bias = tensor({n[2]}),
                                                  .epilogues = {}}),
                   in, out);
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
  const std::function<void()> work = arguments[3] == "linear"
                                         ? linear(pool, arguments[0], sizes[0], sizes[1], sizes[2])
                                     : arguments[3] == "batch" ? batched(pool, sizes)
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
