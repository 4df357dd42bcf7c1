// Chains of elementwise operators: the plan's steps one by one against the same computed block by block,
// alternating in one run, on one thread and on two. Also what memory lies between.
//
//   bench_blocks         all sizes
//   bench_blocks 64 1    one size, so many rounds: for callgrind, which tells run_steps and run_blocks apart
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/backends/backend.h"
#include "flambeau/base/parallel.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/runtime/code.h"
#include "flambeau/runtime/plan/plan.h"
#include "flambeau/runtime/plan/workspace.h"

namespace {

using namespace flambeau;           // NOLINT: a program of its own
using namespace flambeau::runtime;  // NOLINT

constexpr std::string_view kPass = "fuse elementwise steps";

struct Chain {
  std::string_view name;
  std::string_view body;  // of x, y and z; # is the type
};
constexpr Chain kChains[] = {
    {"x * sigmoid(x) * y + z", R"(            a: "#" = torch.ops.aten.sigmoid.default(x)
            b: "#" = torch.ops.aten.mul.Tensor(x, a)
            c: "#" = torch.ops.aten.mul.Tensor(b, y)
            d: "#" = torch.ops.aten.add.Tensor(c, z)
            return (d,)
)"},
    {"gelu as GPT-2 writes it", R"(            a: "#" = torch.ops.aten.pow.Tensor_Scalar(x, 3.0)
            b: "#" = torch.ops.aten.mul.Tensor(a, 0.044715)
            c: "#" = torch.ops.aten.add.Tensor(x, b)
            d: "#" = torch.ops.aten.mul.Tensor(c, 0.7978845608028654)
            e: "#" = torch.ops.aten.tanh.default(d)
            f: "#" = torch.ops.aten.add.Tensor(e, 1.0)
            g: "#" = torch.ops.aten.mul.Tensor(x, 0.5)
            h: "#" = torch.ops.aten.mul.Tensor(g, f)
            return (h,)
)"},
    {"two steps: relu(x + y)", R"(            a: "#" = torch.ops.aten.add.Tensor(x, y)
            b: "#" = torch.ops.aten.relu.default(a)
            return (b,)
)"},
};

graph::ExportedProgram parse(const Chain& chain, const std::string& type) {
  std::string text =
      "#| flambeau text 1\nExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def "
      "forward(self";
  for (const char* const name : {"x", "y", "z"}) text += fmt::format(", {}: \"{}\"", name, type);
  text += "):\n";
  for (const char letter : chain.body) text += letter == '#' ? type : std::string(1, letter);
  return graph::parse_text(text +
                           "    \nGraph signature: \n    # inputs\n    \n    # outputs\n    \nRange "
                           "constraints: {}\nSchema version: 8.20\n");
}

[[gnu::noipa]] void run_steps(ops::Context& context, Workspace& workspace,
                              std::span<const Tensor* const> inputs) {
  workspace.run(context, inputs);
}
[[gnu::noipa]] void run_blocks(ops::Context& context, Workspace& workspace,
                               std::span<const Tensor* const> inputs) {
  workspace.run(context, inputs);
}

template <auto kRun>
double seconds_of(ops::Context& context, Workspace& workspace, std::span<const Tensor* const> inputs,
                  int times) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) kRun(context, workspace, inputs);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

void measure(const Chain& chain, std::string_view prefix, DType dtype, int64_t count, int threads,
             int rounds) {
  const ops::Library library;
  ThreadPool pool(threads);
  ops::Context context(library, pool);
  const graph::ExportedProgram program = parse(chain, fmt::format("{}[{}]", prefix, count));
  std::vector<MissingOperator> missing;
  const std::unique_ptr<Code> code = lower(program.graph(), library, missing);
  std::vector<Tensor> tensors;
  std::vector<PlanInput> given;
  for (int i = 0; i < 3; ++i) {
    tensors.push_back(Tensor::zeros(dtype, Dims{count}));
    if (dtype == DType::kFloat32) {
      for (int64_t j = 0; j < count; ++j)
        tensors.back().mutable_data<float>()[j] = static_cast<float>((j + i) % 17 - 8) / 4;
    }
    given.push_back({Value(tensors.back()), false});
  }
  const Tensor* const inputs[] = {&tensors[0], &tensors[1], &tensors[2]};
  std::vector<std::unique_ptr<Plan>> plans;
  std::vector<std::unique_ptr<Workspace>> workspaces;
  backends::PackedWeights packed;
  for (const bool is_fused : {false, true}) {
    plans.push_back(
        record_plan(context, *code, std::vector<bool>(3, false), given, backends::make_backend()));
    for (const PlanPass& pass : plan_passes()) {
      if (is_fused || pass.name != kPass) pass.run(context, *plans.back(), packed);
    }
    workspaces.push_back(std::make_unique<Workspace>(*plans.back()));
  }
  const int times = static_cast<int>(std::clamp<int64_t>(4'000'000 / count, 1, 2000));
  double single = 1e9;  // the best of the rounds, as the machine may have others to serve
  double fused = 1e9;
  for (int round = 0; round < rounds; ++round) {
    single = std::min(single, seconds_of<run_steps>(context, *workspaces[0], inputs, times));
    fused = std::min(fused, seconds_of<run_blocks>(context, *workspaces[1], inputs, times));
  }
  fmt::print(
      "{:<24} {:<5} {:>8} x{} {:>10.2f} us -> {:>9.2f} us, {:>5.2f} times as fast; arena {:>9} -> {}\n",
      chain.name, prefix, count, threads, single * 1e6, fused * 1e6, single / fused, plans[0]->arena_bytes,
      plans[1]->arena_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int64_t> counts = {64, 1000, 64'000, 4'000'000};
  if (argc > 1) counts = {std::atoll(argv[1])};
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 41;
  for (const Chain& chain : kChains) {
    for (const int64_t count : counts) {
      for (const int threads : {1, 2}) {
        measure(chain, "f32", DType::kFloat32, count, threads, rounds);
        if (threads == 1) measure(chain, "bf16", DType::kBFloat16, count, threads, rounds);
      }
    }
  }
  return EXIT_SUCCESS;
}
