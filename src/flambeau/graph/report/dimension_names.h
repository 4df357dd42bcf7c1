// The names that a model's author gave to dimensions: "batch" for s77. They stand in the program's custom
// metadata, which PyTorch keeps when it loads and saves a program
// (graph_module.meta["custom"]["dimensions"]).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flambeau/graph/program.h"

namespace flambeau::graph {

// Symbol and name.
using DimensionNames = std::vector<std::pair<std::string, std::string>>;

// Empty where the program has none; what is no symbol or no name is passed over.
DimensionNames dimension_names(const ExportedProgram& program);

// Keeps whatever else the custom metadata holds. Of several names for a symbol the first one counts.
void set_dimension_names(ExportedProgram& program, const DimensionNames& names);

}  // namespace flambeau::graph
