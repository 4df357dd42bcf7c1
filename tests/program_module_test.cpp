// Programs as modules again, calls of modules that are preserved, and what strict mode refuses.
#include <gtest/gtest.h>

#include "flambeau/error.h"
#include "flambeau/export.h"
#include "flambeau/nn.h"
#include "flambeau/program.h"
#include "support/exported.h"

namespace flambeau {
namespace {

class Block : public nn::Layer<Block> {
 public:
  Block() {
    add_module("fc", fc);
    add_buffer("steps", steps);
  }
  static constexpr std::array kArguments{"x", "scale"};
  std::pair<Tensor, Tensor> forward(const Tensor& x, double scale) {
    steps = steps + 1;
    const Tensor y = fc(x) * scale;
    return {y, y + steps};
  }
  nn::Linear fc{4, 4};
  Tensor steps = nn::zeros({});
};

class Net : public nn::Layer<Net> {
 public:
  Net() {
    add_module("block", block);
    add_module("norm", norm);
  }
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const auto [a, b] = block(x, 2.0);
    const auto [c, d] = block(a, 0.5);
    return norm(c) + b * d;
  }
  Block block;
  nn::BatchNorm1d norm{4};
};

ExportOptions with_batch() {
  ExportOptions options;
  options.dynamic = DynamicShapes::by_name(
      {{"x", ShapeSpec(std::map<int64_t, Dim>{{0, Dim("batch", {.min = 2, .max = 9})}})}});
  return options;
}

TEST(ProgramModule, GivesWhatTheModelGives) {
  nn::Session session({.seed = 0});
  Net net;
  const Tensor x = nn::randn({3, 4});
  const nn::Tree inputs[] = {nn::to_tree(x)};
  for (const bool is_decomposed : {false, true}) {
    graph::ExportedProgram program = export_program(net, inputs, {}, with_batch());
    if (is_decomposed) program = run_decompositions(program);
    // Tensors of its own, for running the net changes its statistics.
    for (graph::Weight& weight : program.state_dict) weight.tensor = nn::clone(weight.tensor);
    const auto module = make_module(std::move(program));
    std::vector<std::string> names;
    for (const nn::NamedModule& named : module->named_modules()) names.push_back(named.name);
    EXPECT_EQ(names, (std::vector<std::string>{"", "block", "block.fc", "norm"}));
    EXPECT_EQ(module->find_module("norm")->class_name(), "torch.nn.modules.batchnorm.BatchNorm1d");
    std::vector<std::string> keys;
    for (const auto& [key, tensor] : module->state_dict()) keys.push_back(key);
    EXPECT_EQ(keys, (std::vector<std::string>{"block.steps", "block.fc.weight", "block.fc.bias",
                                              "norm.weight", "norm.bias", "norm.running_mean",
                                              "norm.running_var", "norm.num_batches_tracked"}));
    Net same;
    same.load_state_dict(module->state_dict());
    for (int turn = 0; turn < 2; ++turn)
      EXPECT_EQ(numbers(module->call(inputs).leaves.at(0).tensor()), numbers(same(x)));
    for (const auto& [key, tensor] : module->state_dict()) {
      if (key == "norm.num_batches_tracked") continue;
      for (const auto& [other, expected] : same.state_dict()) {
        if (key == other) {
          EXPECT_EQ(numbers(tensor), numbers(expected)) << key;
        }
      }
    }
  }
}

TEST(ProgramModule, IsExportedAgainAsItWas) {
  nn::Session session({.seed = 0});
  Net net;
  const nn::Tree inputs[] = {nn::to_tree(nn::randn({3, 4}))};
  const graph::ExportedProgram first = export_program(net, inputs, {}, with_batch());
  const auto module = make_module(first.clone());
  const graph::ExportedProgram second = export_program(*module, inputs, {}, with_batch());
  EXPECT_TRUE(graph::verify(second).empty());
  const auto plain = [](const graph::ExportedProgram& program) {
    graph::ExportedProgram copy = program.clone();
    for (graph::Node& node : copy.graph().nodes()) node.metadata.clear();
    copy.graph().rename(*copy.graph().last_node()->outputs()[0].value(), "copy");  // now the model's own call
    return graph::to_text(copy);
  };
  EXPECT_EQ(plain(second), plain(first));
  auto node = second.graph().nodes().begin();
  for (const graph::Node& before : first.graph().nodes()) {
    if (before.next() == nullptr) break;
    const std::string* const stack = before.find_metadata("nn_module_stack");
    EXPECT_EQ(*(*node).find_metadata("nn_module_stack"), *stack);
    ++node;
  }
}

TEST(ProgramModule, ChecksWhatItIsGiven) {
  nn::Session session;
  Net net;
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({3, 4}))};
  const auto module = make_module(export_program(net, inputs, {}, with_batch()));
  const auto call = [&](const Tensor& x) {
    const nn::Tree given[] = {nn::to_tree(x)};
    return error_text([&] { module->call(given); });
  };
  EXPECT_EQ(call(nn::ones({4, 4})), "no error");
  EXPECT_EQ(call(nn::ones({3, 5})),
            "input 'x' (args[0]): dimension 1 is 5, and must be 4 (the program was exported with this size "
            "fixed; export it with a dynamic dimension to vary it)");
  EXPECT_EQ(call(nn::ones({10, 4})),
            "input 'x' (args[0]): dimension 0 is 10, and must fulfil 2 <= s77 <= 9 (the program was exported "
            "for sizes in this range)");
  EXPECT_EQ(call(nn::ones({3})), "input 'x' (args[0]) has 1 dimensions [3], 2 are expected: [s77, 4]");
  EXPECT_EQ(call(nn::ones({3, 4}, DType::kInt64)),
            "input 'x' (args[0]) has elements of type int64, float32 is expected (convert it to float32)");
  expect_in("the program is called with", error_text([&] { module->call({}); }));
  expect_in("the module 'norm' of a program cannot be called on its own",
            error_text([&] { module->find_module("norm")->call(inputs); }));
}

TEST(Export, PreservesCallsOfModules) {
  nn::Session session;
  Net net;
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({3, 4}))};
  ExportOptions options = with_batch();
  options.preserved = {"block"};
  const graph::ExportedProgram program = export_program(net, inputs, {}, options);
  EXPECT_TRUE(graph::verify(program).empty());
  std::vector<std::string> calls;
  for (const graph::ModuleCallEntry& entry : program.module_call_graph) {
    if (!entry.signature || entry.fqn.empty()) continue;
    std::string text = entry.fqn + ":";
    for (const graph::Argument& input : entry.signature->inputs)
      text += input.value() != nullptr ? " " + input.value()->name() : " constant";
    text += " ->";
    for (const graph::Argument& output : entry.signature->outputs) text += " " + output.value()->name();
    calls.push_back(text);
  }
  EXPECT_EQ(calls, (std::vector<std::string>{"block: x constant -> mul add_1",
                                             "block@1: mul constant -> mul_1 add_3"}));
  // Such a module can be called on its own.
  const auto module = make_module(program.clone());
  const Tensor x = nn::ones({5, 4}) * 3;
  const nn::Tree given[] = {nn::to_tree(x), nn::to_tree(2.0)};
  const nn::Tree parts = module->find_module("block")->call(given);
  Block same;
  same.load_state_dict(net.block.state_dict());
  const auto [first, second] = same(x, 2.0);
  ASSERT_EQ(parts.leaves.size(), 2U);
  EXPECT_EQ(numbers(parts.leaves[0].tensor()), numbers(first));
  EXPECT_EQ(numbers(parts.leaves[1].tensor()), numbers(second));
  options.preserved = {"nowhere"};
  EXPECT_EQ(error_text([&] { export_program(net, inputs, {}, options); }),
            "the module 'nowhere', whose calls are to be preserved, is not called");
}

TEST(Export, LeavesTheModuleAsItWas) {
  nn::Session session;
  Net net;
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({3, 4}))};
  const Tensor steps = net.block.steps;
  const graph::ExportedProgram program = export_program(net, inputs);
  EXPECT_EQ(net.block.steps.storage(), steps.storage());
  const graph::Node& last = *program.graph().last_node();
  EXPECT_EQ(last.target, "torch.ops.aten.copy_.default");
  EXPECT_EQ(last.inputs()[0].argument.value()->name(), "b_block_steps");
}

class Keeps : public nn::Layer<Keeps> {
 public:
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    kept = x + 1;
    return kept * 2;
  }
  Tensor kept;
};

class Writes : public nn::Layer<Writes> {
 public:
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    nn::add_(hidden, 1);
    return x + hidden;
  }
  Tensor hidden = nn::zeros({2});
};

class Replaces : public nn::Layer<Replaces> {
 public:
  Replaces() { add_parameter("weight", weight); }
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    weight = weight + 1;
    return x + weight;
  }
  Tensor weight = nn::zeros({2});
};

class Reads : public nn::Layer<Reads> {
 public:
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) { return x.data<float>()[0] > 0 ? x + 1 : x; }
};

TEST(Strict, RefusesWhatIsNotSeen) {
  nn::Session session;
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({2}))};
  ExportOptions strict;
  strict.is_strict = true;
  Keeps keeps;
  EXPECT_EQ(error_text([&] { export_program(keeps, inputs); }), "no error");
  keeps.kept = Tensor();
  const std::string held = error_text([&] { export_program(keeps, inputs, {}, strict); });
  expect_in("a traced tensor is still held after the call: 'add', made in File \"", held);
  expect_in("register it as a buffer", held);
  Writes writes;
  expect_in("aten::add_.Tensor writes to a tensor that is neither an input nor a state of the model",
            error_text([&] { export_program(writes, inputs, {}, strict); }));
  Replaces replaces;
  expect_in("the model replaces its parameter 'weight' while it is traced",
            error_text([&] { export_program(replaces, inputs); }));
  EXPECT_EQ(replaces.weight.data<float>()[0], 0);
  Reads reads;
  expect_in("a tensor on the meta device has no data",
            error_text([&] { export_program(reads, inputs, {}, strict); }));
  Net net;
  const nn::Tree rows[] = {nn::to_tree(nn::ones({3, 4}))};
  EXPECT_EQ(error_text([&] { export_program(net, rows, {}, strict); }), "no error");
}

}  // namespace
}  // namespace flambeau
