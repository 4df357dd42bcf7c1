// The C++ side of bench/export: traces, decomposes or saves one model and says how long each round took.
#include "flambeau/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/nn.h"
#include "flambeau/program.h"
#include "models/bert.h"
#include "models/gpt2.h"
#include "models/llama.h"
#include "models/lstm_tagger.h"
#include "models/resnet.h"
#include "models/unet.h"

namespace {

using namespace flambeau;  // NOLINT: a program of its own

// That many nodes: linear, relu, add and mul in turns, each linear with weights of its own.
class Steps : public nn::Layer<Steps> {
 public:
  explicit Steps(int64_t count) : count_(count) {
    for (int64_t i = 0; i < count; i += 4) layers.add(8, 8);
    add_module("layers", layers);
  }
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    Tensor y = x;
    for (int64_t i = 0; i < count_; ++i) {
      if (i % 4 == 0) {
        y = layers[static_cast<size_t>(i / 4)](y);
      } else if (i % 4 == 1) {
        y = nn::relu(y);
      } else if (i % 4 == 2) {
        y = y + x;
      } else {
        y = y * 0.5;
      }
    }
    return y;
  }
  nn::ModuleList<nn::Linear> layers;

 private:
  int64_t count_;
};

struct Model {
  std::function<std::shared_ptr<nn::Module>()> make;
  std::function<std::vector<Tensor>()> inputs;  // batch first
};

// As in tests/interop/nn/nn_models.py.
Model find_model(const std::string& name) {
  if (name.starts_with("steps:")) {
    const int64_t count = std::atoll(name.c_str() + 6);
    return {[=] { return std::make_shared<Steps>(count); }, [] { return std::vector{nn::randn({2, 8})}; }};
  }
  const auto words = [](int64_t vocabulary, int64_t length) {
    return [=] { return std::vector{nn::randint(0, vocabulary, {2, length})}; };
  };
  const std::map<std::string, Model> models = {
      {"resnet18",
       {[] { return std::make_shared<models::ResNet>(10); },
        [] { return std::vector{nn::randn({2, 3, 64, 64})}; }}},
      {"bert",
       {[] { return std::make_shared<models::Bert>(); },
        [] { return std::vector{nn::randint(0, 100, {2, 11}), nn::randint(0, 2, {2, 11})}; }}},
      {"gpt2", {[] { return std::make_shared<models::Gpt2>(); }, words(96, 13)}},
      {"lstm_tagger", {[] { return std::make_shared<models::LstmTagger>(50, 12, 10, 7); }, words(50, 9)}},
      {"unet",
       {[] { return std::make_shared<models::UNet>(3, 2); },
        [] { return std::vector{nn::randn({2, 3, 16, 24})}; }}},
      {"llama", {[] { return std::make_shared<models::Llama>(); }, words(128, 17)}},
  };
  const auto found = models.find(name);
  if (found == models.end()) throw Error(ErrorCode::kNotFound, "no model '" + name + "'");
  return found->second;
}

ExportOptions dynamic_batch(const nn::Module& module, size_t inputs) {
  const Dim batch("batch");
  std::vector<std::pair<std::string, ShapeSpec>> shapes;
  for (size_t i = 0; i < inputs; ++i)
    shapes.emplace_back(module.argument_names().at(i), ShapeSpec(std::map<int64_t, Dim>{{0, batch}}));
  return {.dynamic = DynamicShapes::by_name(std::move(shapes))};
}

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(const std::vector<std::string>& arguments) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  if (arguments.size() != (what == "save" ? 5 : 4) ||
      (what != "trace" && what != "decompose" && what != "save")) {
    fmt::print(stderr, "bench_export trace|decompose|save MODEL|steps:N static|dynamic ROUNDS [OUT]\n");
    return 2;
  }
  nn::Session session({.seed = 0});
  const Model model = find_model(arguments[1]);
  const std::shared_ptr<nn::Module> module = model.make();
  module->eval();
  std::vector<nn::Tree> inputs;
  for (const Tensor& tensor : model.inputs()) inputs.push_back(nn::to_tree(tensor));
  const ExportOptions options =
      arguments[2] == "dynamic" ? dynamic_batch(*module, inputs.size()) : ExportOptions{};

  graph::ExportedProgram program = export_program(*module, inputs, {}, options);
  const size_t nodes = program.graph().node_count();
  pt2::Package package;
  if (what == "save") package.models.push_back({.name = "model", .program = program.clone()});
  const auto once = [&] {
    if (what == "trace") {
      program = export_program(*module, inputs, {}, options);
    } else if (what == "decompose") {
      run_decompositions(program);
    } else {
      save_package(package, arguments[4], pt2::PackageLayout::kArchive, Progress::silent(), FileApi::system(),
                   Durability::kCached);
    }
  };
  once();  // not counted
  std::vector<double> seconds;
  for (int round = 0; round < std::atoi(arguments[3].c_str()); ++round) {
    if (what == "trace") program = graph::ExportedProgram();  // freeing the last one is not tracing
    seconds.push_back(seconds_of(once));
  }
  fmt::print("{{\"nodes\": {}, \"seconds\": [{}]}}\n", nodes, fmt::join(seconds, ", "));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const flambeau::Error& error) {
    fmt::print(stderr, "bench_export: {}\n", error.what());
    return 1;
  }
}
