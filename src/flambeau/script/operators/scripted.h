// Functions that TorchScript has in place of operators, written in TorchScript: mostly "number op tensor",
// for operators take the tensor first.
#pragma once

#include <span>
#include <string_view>

#include "flambeau/script/operators/operator_table.h"

namespace flambeau::script {

struct ScriptedText {
  std::string_view name;       // "aten::mul"
  std::string_view arguments;  // "(float a, Tensor b) -> Tensor", as in a schema
  std::string_view body;       // "return torch.mul(b, a)"
};

// In the order they are tried.
std::span<const ScriptedText> scripted_texts();
ScriptedOperator read_scripted(const ScriptedText& text);

}  // namespace flambeau::script
