// The arguments a model is traced with, leaf by leaf.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/nn/module.h"
#include "flambeau/shapes/dynamic_shapes.h"
#include "flambeau/value/pytree.h"

namespace flambeau::trace {

struct TracedLeaf {
  std::string name;  // "d_a": what the graph's input is called
  Value value;
};

struct Inputs {
  TreeSpec spec;                            // ((positional...), {keyword: ...})
  std::vector<std::string> argument_names;  // of those that are given, positional ones first
  std::vector<TracedLeaf> leaves;

  // What shapes can be said of.
  std::vector<InputArgument> arguments() const;
  // The arguments as they are now, for a call.
  struct Trees {
    std::vector<nn::Tree> positional;
    std::vector<std::pair<std::string, nn::Tree>> keywords;
  };
  Trees trees() const;
};

// Throws Error(kInvalidArgument) for more arguments than the module has.
Inputs flatten_inputs(const nn::Module& module, std::span<const nn::Tree> arguments,
                      const nn::Keywords& keywords);

}  // namespace flambeau::trace
