// Where in the model's source a node comes from, as PyTorch's comment says it.
#pragma once

#include <string>

#include "flambeau/graph/graph.h"

namespace flambeau::graph {

// "# File: model.py:12 in forward, code: return x + 1", with the node's own annotations before the file.
std::string source_summary(const Node& node);

}  // namespace flambeau::graph
