// TorchScript's own functions: those that stand in for operators, and those that say old operators in terms
// of today's. Compiled when first needed, once in a unit.
#pragma once

#include <memory>
#include <string_view>

#include "flambeau/script/ir/graph.h"

namespace flambeau::script {

class Unit;

// The graph of the one function in `text`, which is of OperatorTable or upgraders().
std::shared_ptr<const ir::Graph> library_graph(Unit& unit, std::string_view text);

}  // namespace flambeau::script
