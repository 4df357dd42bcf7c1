#include "flambeau/nn/module.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional.h"
#include "flambeau/nn/init.h"
#include "flambeau/nn/layers.h"
#include "support/message_of.h"

namespace flambeau::nn {
namespace {

std::vector<std::string> names_of(const auto& list) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.push_back(entry.name);
  return names;
}
using Names = std::vector<std::string>;

class Block : public Layer<Block> {
 public:
  Block() {
    add_module("conv", conv);
    add_module("norm", norm);
  }
  Tensor forward(const Tensor& x) { return relu(norm(conv(x))); }
  Conv2d conv{2, 2, 3, {.padding = 1, .bias = false}};
  BatchNorm2d norm{2};
};

class Net : public Layer<Net> {
 public:
  Net() : scale(init::ones({2})), step(init::zeros({}, DType::kInt64)), table(init::zeros({3})) {
    add_module("first", first);
    add_parameter("scale", scale);
    add_buffer("step", step);
    add_buffer("table", table, /*persistent=*/false);
    add_module("blocks", blocks);
    blocks.add();
    blocks.add();
    last.weight = first.weight;
    add_module("last", last);
  }
  static constexpr std::array kArguments{"x", "bias"};
  Tensor forward(const Tensor& x, const std::optional<Tensor>& bias = {}) {
    const Tensor y = last(first(x)) * scale;
    return bias ? y + *bias : y;
  }

  Linear first{2, 2};
  Tensor scale, step, table;
  ModuleList<Block> blocks;
  Linear last{2, 2, false};
};

TEST(Module, ListsWhatItHasInPyTorchsOrder) {
  Session session;
  Net net;
  EXPECT_EQ(
      names_of(net.named_parameters()),
      (Names{"scale", "first.weight", "first.bias", "blocks.0.conv.weight", "blocks.0.norm.weight",
             "blocks.0.norm.bias", "blocks.1.conv.weight", "blocks.1.norm.weight", "blocks.1.norm.bias"}));
  EXPECT_EQ(names_of(net.named_parameters(Shared::kEach)).back(), "last.weight");
  EXPECT_EQ(names_of(net.named_buffers()),
            (Names{"step", "table", "blocks.0.norm.running_mean", "blocks.0.norm.running_var",
                   "blocks.0.norm.num_batches_tracked", "blocks.1.norm.running_mean",
                   "blocks.1.norm.running_var", "blocks.1.norm.num_batches_tracked"}));
  EXPECT_EQ(names_of(net.named_modules()),
            (Names{"", "first", "blocks", "blocks.0", "blocks.0.conv", "blocks.0.norm", "blocks.1",
                   "blocks.1.conv", "blocks.1.norm", "last"}));
  EXPECT_EQ(names_of(net.children()), (Names{"first", "blocks", "last"}));
  EXPECT_EQ(net.find_module("blocks.1.norm"), &net.blocks[1].norm);
  EXPECT_EQ(net.find_module("blocks.2"), nullptr);
}

TEST(Module, TheStateDictHasTiedWeightsTwiceAndNoTransientBuffers) {
  Session session;
  Net net;
  Names names;
  for (const auto& [name, tensor] : net.state_dict()) names.push_back(name);
  EXPECT_EQ(names,
            (Names{"scale", "step", "first.weight", "first.bias", "blocks.0.conv.weight",
                   "blocks.0.norm.weight", "blocks.0.norm.bias", "blocks.0.norm.running_mean",
                   "blocks.0.norm.running_var", "blocks.0.norm.num_batches_tracked", "blocks.1.conv.weight",
                   "blocks.1.norm.weight", "blocks.1.norm.bias", "blocks.1.norm.running_mean",
                   "blocks.1.norm.running_var", "blocks.1.norm.num_batches_tracked", "last.weight"}));
  EXPECT_TRUE(is_same_tensor(net.first.weight, net.last.weight));
  EXPECT_TRUE(net.first.weight.requires_grad());
  EXPECT_FALSE(net.step.requires_grad());
}

TEST(Module, KnowsItsClassAndArguments) {
  Session session;
  Net net;
  EXPECT_NE(net.class_name().find("Net"), std::string::npos);
  EXPECT_EQ(short_class_name(net), "Net");
  EXPECT_EQ(net.first.class_name(), "torch.nn.modules.linear.Linear");
  EXPECT_EQ(net.blocks[0].conv.class_name(), "torch.nn.modules.conv.Conv2d");
  EXPECT_EQ(net.argument_names(), (Names{"x", "bias"}));
  EXPECT_EQ(net.blocks[0].argument_names(), (Names{"x"}));
}

TEST(Module, TrainsAndFreezesAll) {
  Session session;
  Net net;
  EXPECT_TRUE(net.blocks[1].norm.is_training());
  net.eval();
  EXPECT_FALSE(net.blocks[1].norm.is_training());
  net.requires_grad_(false);
  EXPECT_FALSE(net.last.weight.requires_grad());
}

TEST(Module, ConvertsAndKeepsWeightsTied) {
  Session session;
  Net net;
  net.to(DType::kFloat64);
  EXPECT_EQ(net.first.weight.dtype(), DType::kFloat64);
  EXPECT_TRUE(is_same_tensor(net.first.weight, net.last.weight));
  EXPECT_TRUE(net.last.weight.requires_grad());
  EXPECT_EQ(net.step.dtype(), DType::kInt64);
}

TEST(Module, TakesAStateDict) {
  Session session;
  Linear from(2, 3), to(2, 3);
  EXPECT_NE(from.weight.data<float>()[0], to.weight.data<float>()[0]);
  to.load_state_dict(from.state_dict());
  EXPECT_EQ(from.weight.data<float>()[0], to.weight.data<float>()[0]);
  EXPECT_NE(from.weight.storage(), to.weight.storage());
  to.load_state_dict(from.state_dict(), true, /*assign=*/true);
  EXPECT_EQ(from.weight.storage(), to.weight.storage());
}

TEST(Module, SaysWhatDoesNotFitInAStateDict) {
  Session session;
  Linear linear(2, 3);
  StateDict state{{"weight", init::zeros({3, 4})}, {"extra", init::zeros({1})}};
  EXPECT_EQ(
      message_of([&] { linear.load_state_dict(state); }),
      "the state dict does not fit Linear: 'weight' is float32[3, 4] there and float32[3, 2] here; missing: "
      "'bias'; unexpected: 'extra' (load it into the module it was made by, or with strict = false to take "
      "what fits by name)");
  state[0].second = init::zeros({3, 2});
  const UnmatchedKeys keys = linear.load_state_dict(state, false);
  EXPECT_EQ(keys.missing, Names{"bias"});
  EXPECT_EQ(keys.unexpected, Names{"extra"});
  EXPECT_EQ(linear.weight.data<float>()[5], 0);
}

TEST(Module, RefusesNamesThatCannotBe) {
  class Twice : public Layer<Twice> {
   public:
    explicit Twice(const std::string& name) {
      add_parameter("a", a);
      add_buffer(name, b);
    }
    Tensor forward(const Tensor& x) { return x; }
    Tensor a, b;
  };
  EXPECT_NE(message_of([] { Twice("a"); }).find("the name is taken"), std::string::npos);
  EXPECT_NE(message_of([] { Twice("a.b"); }).find("a name has no dot"), std::string::npos);
  EXPECT_NE(message_of([] { Twice(""); }).find("the name is empty"), std::string::npos);
}

TEST(Module, IsCalledWithTreesAndKeywords) {
  Session session;
  Net net;
  const Tensor x = randn({4, 2});
  const Tensor expected = net(x, x);
  const Tree tree = to_tree(x);
  const Keywords keyword = {{"bias", tree}};
  const Tensor y = from_tree<Tensor>(net.call({&tree, 1}, keyword));
  EXPECT_EQ(y.data<float>()[7], expected.data<float>()[7]);
  EXPECT_EQ(message_of([&] { net.call({}); }), "argument 'x' of Net is missing");
  EXPECT_EQ(message_of([&] { net.call(std::array{tree, tree, tree}); }),
            "Net takes at most 2 arguments (x, bias), 3 are given");
  EXPECT_EQ(message_of([&] { net.call(std::array{tree, tree}, keyword); }),
            "argument 'bias' of Net is given twice");
  EXPECT_EQ(message_of([&] { net.call({&tree, 1}, {{"mask", tree}}); }),
            "Net has no argument 'mask' (it takes x, bias)");
  EXPECT_NE(message_of([&] {
              net.call(std::array{Tree::list(std::array{tree})});
            }).find("expected a Tensor, found [*]"),
            std::string::npos);
}

TEST(Module, ContainersThatOnlyHoldCannotBeCalled) {
  Session session;
  ModuleList<Linear> list;
  list.add(2, 3);
  EXPECT_EQ(message_of([&] { list.call({}, {}); }),
            "a ModuleList holds modules and cannot be called (call the modules in it)");
}

class EventRecorder : public Observer {
 public:
  void enter(const Module& module, const std::function<Tree()>& arguments) override {
    events.push_back("enter " + short_class_name(module) + " " + arguments().spec.to_string());
  }
  void leave(const Module& module, const std::function<Tree()>& result) override {
    events.push_back("leave " + short_class_name(module) + " " + result().spec.to_string());
  }
  std::vector<std::string> events;
};

TEST(Module, AnObserverSeesEveryCall) {
  Session session;
  Sequential net{std::make_shared<Linear>(2, 3), std::make_shared<ReLU>()};
  EventRecorder recorder;
  const Tensor x = randn({4, 2});
  {
    Use use(session.context(), &recorder);
    net(x);
  }
  net(x);
  EXPECT_EQ(recorder.events,
            (Names{"enter Sequential ((*,), {})", "enter Linear ((*,), {})", "leave Linear *",
                   "enter ReLU ((*,), {})", "leave ReLU *", "leave Sequential *"}));
}

}  // namespace
}  // namespace flambeau::nn
