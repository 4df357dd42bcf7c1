#include "flambeau/nn/layers/containers.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau::nn {

Sequential::Sequential(std::initializer_list<std::shared_ptr<Module>> modules) {
  for (const std::shared_ptr<Module>& module : modules) append(module);
}

Sequential::Sequential(std::initializer_list<std::pair<std::string, std::shared_ptr<Module>>> modules) {
  for (const auto& [name, module] : modules) append(name, module);
}

void Sequential::append(std::shared_ptr<Module> module) {
  append(std::to_string(modules_.size()), std::move(module));
}

void Sequential::append(std::string name, std::shared_ptr<Module> module) {
  add_module(std::move(name), *module);
  modules_.push_back(std::move(module));
}

Tree Sequential::forward(const Tree& input) {
  Tree tree = input;
  for (const std::shared_ptr<Module>& module : modules_) tree = module->call({&tree, 1});
  return tree;
}

void ParameterList::append(Tensor parameter) {
  parameters_.push_back(std::make_unique<Tensor>(std::move(parameter)));
  add_parameter(std::to_string(parameters_.size() - 1), *parameters_.back());
}

void fail_uncallable(const Module& module) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a {} holds modules and cannot be called", short_class_name(module)),
              "call the modules in it");
}

}  // namespace flambeau::nn
