// Operators on constants that archives' code leaves to be computed when it is read: devices, complex numbers,
// and the plain arithmetic and comparisons of numbers, strings and None.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "flambeau/script/values/ivalue.h"

namespace flambeau {
struct OperatorEntry;
}

namespace flambeau::script {

// The outputs; nothing for an operator that is not known here, or that fails.
std::optional<std::vector<IValue>> evaluate_operator(const OperatorEntry& op, std::span<const IValue> inputs);

}  // namespace flambeau::script
