// The arguments a model is traced with, leaf by leaf.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/nn/module.h"
#include "flambeau/ops/info.h"
#include "flambeau/value/pytree.h"

namespace flambeau::trace {

struct InputLeaf {
  std::string name;    // "d_a": what the graph's input is called
  std::string source;  // "L['d']['a']": what guards call it
  Value value;
  ops::Info<symbolic::SymInt> info = {};  // of a tensor: its sizes, some of them symbols
};

struct Inputs {
  TreeSpec spec;                            // ((positional...), {keyword: ...})
  std::vector<std::string> argument_names;  // of those that are given, positional ones first
  std::vector<InputLeaf> leaves;

  // The arguments as they are now, for a call.
  struct Trees {
    std::vector<nn::Tree> positional;
    std::vector<std::pair<std::string, nn::Tree>> keywords;
  };
  Trees trees() const;
};

// Throws Error(kInvalidArgument) for more arguments than the module has.
Inputs flatten_inputs(const nn::Module& module, std::span<const nn::Tree> arguments, nn::Keywords keywords);

}  // namespace flambeau::trace
