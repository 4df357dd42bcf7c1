// Nodes of which something is known although not all of their arguments are constants: dropout outside of
// training, comparisons with None, elements of lists that nobody changes.
#pragma once

#include "flambeau/script/ir/graph.h"

namespace flambeau::script {

// True when something changed; what has become useless is left to eliminate_dead_code.
bool simplify_nodes(ir::Graph& graph);

}  // namespace flambeau::script
