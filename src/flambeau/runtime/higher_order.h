// The operators that take graphs: branches, loops, and wrappers around a part of a program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flambeau/runtime/code.h"

namespace flambeau::runtime {

struct HigherOrderCall {
  std::string_view target;  // "cond"
  const std::vector<std::string>& names;
  std::vector<Value> arguments;
  std::vector<const Code*> graphs;  // beside the arguments: the graph that stands there, or null
};

// What runs it, and gives the flat list of results; null for one that is not known.
HigherOrderFunction find_higher_order_function(std::string_view name);

}  // namespace flambeau::runtime
