// What names of Python's modules mean in a user's text: torch.float32 is a number, math.sqrt an operator.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

// Whether it is a module whose names are known: "torch", "torch.nn.functional", "math".
bool is_python_module(std::string_view dotted_name);
// "torch.float32", "math.pi"; nothing for others.
std::optional<IValue> python_constant(std::string_view dotted_name);
// The operator of a module's name: "aten::linalg_norm" of "torch.linalg" and "norm". Empty for a
// function that is written in Python; whether there is an operator of that name is another question.
std::string python_operator(std::string_view module, std::string_view name);

}  // namespace flambeau::script
