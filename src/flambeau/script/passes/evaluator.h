// What an operator gives for constants: who runs operators says so; script/ itself knows a few.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "flambeau/script/values/ivalue.h"

namespace flambeau {
struct OperatorEntry;
}

namespace flambeau::script {

// The outputs; nothing when the operator fails or is not known. It has no effect, and takes and gives nothing
// that can be changed.
using Evaluator = std::function<std::optional<std::vector<IValue>>(const OperatorEntry& op,
                                                                   std::span<const IValue> inputs)>;

}  // namespace flambeau::script
