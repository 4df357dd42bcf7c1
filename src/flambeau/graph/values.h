// Arguments of nodes as values that operators take.
#pragma once

#include <functional>

#include "flambeau/graph/argument.h"
#include "flambeau/value/value.h"

namespace flambeau::graph {

// What a value of the graph is at the moment.
using FindValue = std::function<flambeau::Value(const Value& value)>;

// What the argument says itself, and what it refers to as `find` gives it. An absent tensor is None, in a
// list an undefined one; numbers of which some are the graph's are a list of values. Throws
// Error(kUnsupported) for a subgraph, and for a kind that only a newer schema knows.
flambeau::Value to_value(const Argument& argument, const FindValue& find);

}  // namespace flambeau::graph
