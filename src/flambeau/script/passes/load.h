// What is done to every function that is compiled, in PyTorch's order: what a loaded graph looks like, and so
// what is printed for it, depends on it.
#pragma once

#include "flambeau/script/ir/graph.h"

namespace flambeau::script {

class Unit;

// From the graph as it was emitted, with stores, loads and exits, to one that can be run and printed.
// Throws what the passes throw.
void run_load_passes(ir::Graph& graph, Unit& unit);

// The first of them: operators of old archives become what they meant then. Needs the graph as it was
// emitted.
void replace_old_operators(ir::Graph& graph, Unit& unit);
// The last ones, which are also run by themselves on graphs that were changed.
void run_cleanup_passes(ir::Graph& graph, Unit& unit);

}  // namespace flambeau::script
