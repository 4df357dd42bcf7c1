// A model written in C++, exported with a batch of any size, saved, loaded back and run:
//   export_model tagger.pt2
// docs/exporting.md goes through it.
#include <cstdio>

#include "flambeau/error.h"
#include "flambeau/export.h"
#include "flambeau/nn.h"
#include "flambeau/runtime.h"

using namespace flambeau;

namespace {

// Two layers with something in between. Members are registered under the names they have in the state dict.
class Classifier : public nn::Layer<Classifier> {
 public:
  Classifier() {
    add_module("hidden", hidden);
    add_module("dropout", dropout);
    add_module("output", output);
  }
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const Tensor y = dropout(nn::relu(hidden(x)));
    return nn::log_softmax(output(y), 1);
  }

  nn::Linear hidden{8, 16};
  nn::Dropout dropout{0.1};
  nn::Linear output{16, 3};
};

// Data decides: confident answers stay, others are made softer.
class Careful : public nn::Layer<Careful> {
 public:
  Careful() { add_module("classifier", classifier); }
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const Tensor scores = classifier(x);
    return nn::cond(
        nn::gt(nn::mean(scores), -1.0), [](const Tensor& s) { return nn::exp(s); },
        [this](const Tensor& s) { return nn::exp(s * softness); }, scores);
  }

  Classifier classifier;
  double softness = 0.5;
};

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fputs("usage: export_model OUT.pt2\n", stderr);
    return 2;
  }
  nn::Session session({.seed = 0});
  Classifier model;
  model.eval();

  // The example: its sizes are what is not said to vary.
  const Tensor x = nn::randn({4, 8});
  const ExportOptions any_batch = {.dynamic = {{"x", {{0, Dim("batch")}}}}};
  save_program(export_program(model, {x}, any_batch), arguments[1]);

  // What was saved runs without the model's code, here and in PyTorch.
  Program program = load_program(arguments[1]);
  const std::vector<Value> results = program.run({nn::randn({7, 8})});
  std::puts(results.at(0).summary().c_str());

  // A program is a module again: it runs in the session, and can be part of something that is exported.
  Careful careful;
  careful.eval();
  const auto again = make_module(export_program(careful, {x}, any_batch));
  const nn::Tree answer = (*again)({x});
  std::puts(answer.leaves.at(0).summary().c_str());
} catch (const Error& error) {
  std::fprintf(stderr, "export_model: %s\n", error.what());
  return 1;
}
