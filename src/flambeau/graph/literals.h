// Numbers of a graph that turned out to be known.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "flambeau/graph/graph.h"

namespace flambeau::graph {

// Writes the number in place of the value wherever a node takes it as a size, alone or in a list. Whether
// there was any.
bool replace_by_literals(Graph& graph, const std::unordered_map<const Value*, int64_t>& literals);

}  // namespace flambeau::graph
