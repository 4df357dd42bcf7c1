// Functions of torch.nn.functional that are no operators: in PyTorch they are Python's, here TorchScript's.
#pragma once

#include <string_view>

namespace flambeau::script {

// Where they are in a unit, and in archives: "__torch__.torch.nn.functional.relu".
constexpr std::string_view kFunctionalPrefix = "__torch__.torch.nn.functional";

// All of them, as text of users.
std::string_view functional_text();
bool is_functional_name(std::string_view name);

}  // namespace flambeau::script
