// Brings a program into another form: no operator writes, and those that are made of others are taken apart,
// down to PyTorch's core ATen operators or as far as one likes. As ExportedProgram.run_decompositions.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/trace/decomposition_table.h"

namespace flambeau::ops {
class Library;
}

namespace flambeau::trace {

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
