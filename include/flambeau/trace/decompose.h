// Brings a program into another form: no operator writes, and those that are made of others are taken apart,
// down to PyTorch's core ATen operators or as far as one likes. As ExportedProgram.run_decompositions.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/value/value.h"

namespace flambeau::ops {
class Context;
class Library;
}  // namespace flambeau::ops

namespace flambeau::trace {

// Calls other operators through its context; what those become in turn is not its concern. Arguments fit the
// schema, all of them in its order. No results: it does not take this call apart.
using Decomposition =
    std::function<std::vector<Value>(ops::Context& context, std::span<const Value> arguments)>;

struct DecompositionOptions {
  // Operators that stay as they are: "aten::linear". One that writes or gives a view cannot.
  std::vector<std::string> keep = {};
  // A user's own, in front of those of the table.
  std::vector<std::pair<std::string, Decomposition>> table = {};
  std::shared_ptr<const ops::Library> library = nullptr;  // null: every operator there is
};

// The program traced again: the same inputs, weights and constraints; what it writes to its inputs and
// buffers becomes outputs of their own, in front of the others. Throws Error located at the node that cannot
// be taken apart.
graph::ExportedProgram run_decompositions(const graph::ExportedProgram& program,
                                          const DecompositionOptions& options = {});

}  // namespace flambeau::trace
