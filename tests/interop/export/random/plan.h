// A module whose forward() follows a plan: steps over values, each with a line of text.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "flambeau/nn.h"

namespace flambeau::random_modules {

class PlanModule;

// What a step may look at besides its inputs.
struct Frame {
  PlanModule& module;
  std::vector<SymInt> numbers;  // the arguments that are integers
};
using Run = std::function<TensorList(Frame&, const TensorList&)>;

struct Step {
  std::string text;
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
  Run run;
};

enum class Container : uint8_t { kLeaf, kTuple, kList, kDict };

// An argument: one leaf, or a container of several. Leaves are tensors, or one integer.
struct Argument {
  std::string name;
  Container container = Container::kLeaf;
  size_t count = 1;
  bool is_number = false;
};

// A result: a value, or a size of it times a factor.
struct Output {
  size_t value = 0;
  std::optional<int64_t> dim = {};
  int64_t factor = 1;
};

class PlanModule : public nn::Module {
 public:
  std::string class_name() const override { return "random_modules.PlanModule"; }
  std::vector<std::string> argument_names() const override;
  nn::Tree call(std::span<const nn::Tree> positional, const nn::Keywords& keywords = {}) override;

  // Gives names to what the steps use. Once, when the plan is complete.
  void register_all();
  const Tensor& parameter(size_t index) const { return parameters.at(index); }
  const Tensor& buffer(size_t index) const { return buffers.at(index); }
  Tensor call_layer(size_t index, const Tensor& x) const;
  // The plan as text, a line for each step.
  std::string to_string() const;

  std::vector<Argument> arguments;
  std::vector<Step> steps;
  std::vector<Output> outputs;
  Container output_container = Container::kLeaf;
  size_t value_count = 0;
  std::deque<Tensor> parameters;
  std::deque<Tensor> buffers;
  std::vector<bool> is_persistent;
  std::vector<std::shared_ptr<nn::Module>> layers;
  std::vector<std::string> layer_texts;

 private:
  nn::Tree forward(const std::vector<const nn::Tree*>& trees);
};

// One container of leaves that are all alike; a dict has the keys "k0", "k1", ...
nn::Tree make_container(Container container, std::span<const nn::Tree> leaves);

}  // namespace flambeau::random_modules
