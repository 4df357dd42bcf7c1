#include "plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace flambeau::random_modules {
namespace {

constexpr const char* kContainerNames[] = {"", "tuple", "list", "dict"};

std::string output_text(const Output& output) {
  if (!output.dim) return fmt::format("v{}", output.value);
  return fmt::format("{} * size(v{}, {})", output.factor, output.value, *output.dim);
}

}  // namespace

nn::Tree make_container(Container container, std::span<const nn::Tree> leaves) {
  switch (container) {
    case Container::kLeaf:
      return leaves[0];
    case Container::kTuple:
      return nn::Tree::tuple(leaves);
    case Container::kList:
      return nn::Tree::list(leaves);
    case Container::kDict:
      break;
  }
  std::vector<std::pair<std::string, nn::Tree>> members;
  for (size_t i = 0; i < leaves.size(); ++i) members.emplace_back(fmt::format("k{}", i), leaves[i]);
  return nn::Tree::dict(members);
}

std::vector<std::string> PlanModule::argument_names() const {
  std::vector<std::string> names;
  for (const Argument& argument : arguments) names.push_back(argument.name);
  return names;
}

nn::Tree PlanModule::call(std::span<const nn::Tree> positional, const nn::Keywords& keywords) {
  const nn::layer::Matched matched =
      nn::layer::match_arguments(*this, argument_names(), positional, keywords);
  nn::Observer* const observer = nn::observer();
  if (observer != nullptr)
    observer->enter(*this, [&] { return nn::layer::arguments_tree(positional, keywords); });
  nn::Tree result = forward(matched.trees);
  if (observer != nullptr) observer->leave(*this, [&] { return result; });
  return result;
}

nn::Tree PlanModule::forward(const std::vector<const nn::Tree*>& trees) {
  Frame frame{*this, {}};
  TensorList values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (trees[i] == nullptr) nn::layer::fail_missing(*this, arguments[i].name);
    if (arguments[i].is_number) {
      frame.numbers.push_back(nn::from_tree<SymInt>(*trees[i]));
      continue;
    }
    for (const Value& leaf : trees[i]->leaves) values.push_back(leaf.tensor());
  }
  values.resize(value_count);
  for (const Step& step : steps) {
    TensorList inputs;
    for (const size_t input : step.inputs) inputs.push_back(values[input]);
    const TensorList results = step.run(frame, inputs);
    for (size_t i = 0; i < results.size(); ++i) values[step.outputs[i]] = results[i];
  }
  std::vector<nn::Tree> leaves;
  for (const Output& output : outputs) {
    const Tensor& value = values[output.value];
    leaves.push_back(output.dim ? nn::to_tree(SymInt(output.factor) * nn::size(value, *output.dim))
                                : nn::to_tree(value));
  }
  return make_container(output_container, leaves);
}

void PlanModule::register_all() {
  for (size_t i = 0; i < parameters.size(); ++i) add_parameter(fmt::format("p{}", i), parameters[i]);
  for (size_t i = 0; i < buffers.size(); ++i) add_buffer(fmt::format("b{}", i), buffers[i], is_persistent[i]);
  for (size_t i = 0; i < layers.size(); ++i) add_module(fmt::format("m{}", i), *layers[i]);
}

Tensor PlanModule::call_layer(size_t index, const Tensor& x) const {
  const nn::Tree given[] = {nn::to_tree(x)};
  return nn::from_tree<Tensor>(layers.at(index)->call(given));
}

std::string PlanModule::to_string() const {
  std::string text;
  for (size_t i = 0; i < parameters.size(); ++i)
    text += fmt::format("  p{} = parameter {}\n", i, parameters[i].summary());
  for (size_t i = 0; i < buffers.size(); ++i)
    text += fmt::format("  b{} = {}buffer {}\n", i, is_persistent[i] ? "" : "non-persistent ",
                        buffers[i].summary());
  for (size_t i = 0; i < layers.size(); ++i) text += fmt::format("  m{} = {}\n", i, layer_texts[i]);
  for (const Step& step : steps) {
    std::vector<std::string> names;
    for (const size_t output : step.outputs) names.push_back(fmt::format("v{}", output));
    text += fmt::format("  {} = {}\n", fmt::join(names, ", "), step.text);
  }
  std::vector<std::string> results;
  for (const Output& output : outputs) results.push_back(output_text(output));
  return text + fmt::format("  return {}({})\n", kContainerNames[static_cast<size_t>(output_container)],
                            fmt::join(results, ", "));
}

}  // namespace flambeau::random_modules
