// Deep copies of arguments; Graph::clone() and ExportedProgram::clone() are made of them.
#pragma once

#include "flambeau/graph/graph.h"

namespace flambeau::graph {

// The same argument over the values of the same names in `to`, which are created if need be.
Argument clone(const Argument& argument, Graph& to);

}  // namespace flambeau::graph
