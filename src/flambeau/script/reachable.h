// Which functions can run when methods of some classes are called: theirs, and those that these call.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

// Told of each function once, in the order in which they are found; `graph` is null where it cannot be
// compiled, and `error` says why.
using VisitFunction =
    std::function<void(const Function& function, const ir::Graph* graph, const Error* error)>;

// Compiles what is not compiled yet. A class that cannot be read is an error of the function that calls it.
void visit_reachable(const Unit& unit, std::span<const std::shared_ptr<const Class>> classes,
                     const VisitFunction& visit);

// All nodes of a graph, those in blocks and in graphs of forks too, in order. Throws Error(kLimit) where they
// are nested too deep.
void visit_nodes(const ir::Graph& graph, const std::function<void(const ir::Node& node)>& visit);

}  // namespace flambeau::script
