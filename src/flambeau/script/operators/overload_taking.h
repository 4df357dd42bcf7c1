// Which overload a node is by what it takes. A graph holds names and inputs: whatever overload a call was
// matched with, the first that takes the inputs as they are is the one that is printed and run.
#pragma once

#include <span>
#include <string_view>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/operators/operator_table.h"

namespace flambeau::script {

// Null when none takes them.
const Overload* overload_taking(const Unit& unit, std::string_view name, std::span<ir::Value* const> inputs);

}  // namespace flambeau::script
