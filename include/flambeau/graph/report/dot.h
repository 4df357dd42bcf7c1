// Graphs for Graphviz: `dot -Tsvg` draws them.
#pragma once

#include <string>

#include "flambeau/graph/program.h"

namespace flambeau::graph {

struct DotOptions {
  // Nests nodes in the modules of the original model that they come from.
  bool modules = false;
  // Writes element type and sizes at the edges.
  bool shapes = true;
};

// Inputs, parameters, buffers, constants and outputs are styled apart; every subgraph is a cluster that its
// node points to.
std::string to_dot(const ExportedProgram& program, const DotOptions& options = {});

}  // namespace flambeau::graph
