// What PyTorch does to a function's graph when it was compiled, before anybody sees it.
#pragma once

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/passes/evaluator.h"

namespace flambeau::script {

class Unit;

// Old operators become today's, variables become values, early exits become flags, closures become graphs,
// constants are folded and pooled. `evaluator` runs operators on constants; without one a few are known.
void run_load_passes(ir::Graph& graph, Unit& unit, const Evaluator& evaluator = {});

}  // namespace flambeau::script
