// The operators that take graphs: branches, loops, and wrappers around a part of a program.
#pragma once

#include <string>
#include <vector>

#include "flambeau/runtime/code.h"

namespace flambeau::runtime {

class Interpreter;

struct HigherOrderCall {
  const std::string& target;  // "cond"
  const std::vector<std::string>& names;
  std::vector<Value> arguments;
  std::vector<const Code*> graphs;  // beside the arguments: the graph that stands there, or null
};

// The flat list of results. Throws Error(kUnsupported) for one that is not known.
std::vector<Value> run_higher_order(Interpreter& interpreter, const HigherOrderCall& call);

}  // namespace flambeau::runtime
