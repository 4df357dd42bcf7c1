// Nodes whose results nobody uses.
#pragma once

#include <functional>

#include "flambeau/graph/graph.h"

namespace flambeau::graph {

// Removes them from the graph and those inside it, where `may_go` says so; true when there were any. By a
// mention in how a module was called a result is used, too.
bool remove_unused_nodes(Graph& graph, const std::function<bool(const Node& node)>& may_go);

}  // namespace flambeau::graph
