// The modules that the interop tests build here and in Python, by name.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "flambeau/nn.h"

namespace flambeau::nn_cases {

struct Case {
  std::string name;
  std::function<std::shared_ptr<nn::Module>()> make;
};

// Layers one by one, and whole models.
std::span<const Case> layer_cases();
std::span<const Case> model_cases();
// PyTorch's database of what can be exported (torch._export.db.examples), with its names.
std::span<const Case> exportdb_cases();
// Branches, loops, state that is replaced.
std::span<const Case> flow_cases();

// A new module with its initial values. Throws Error(kNotFound).
std::shared_ptr<nn::Module> make_case(std::string_view name);

}  // namespace flambeau::nn_cases
