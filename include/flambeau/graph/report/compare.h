// Where two programs differ in what they compute, whatever their values are called and in which order they
// stand.
#pragma once

#include <string>
#include <vector>

#include "flambeau/graph/program.h"

namespace flambeau::graph {

struct ProgramDifference {
  std::string part;    // "input", "output", "node", "value", "constraint", "guard", "operator set"
  std::string name;    // of the value or symbol
  std::string status;  // "only in the first", "only in the second", "different"
  std::string detail;
};

// Compares inputs and outputs by their meaning, nodes by operator and operands, values by their descriptions,
// and the constraints. A node counts as different where its own operator or constants differ, not where an
// operand of it does: of a long chain after one change only the change is listed; `follows` counts the rest.
// Empty when they are equal.
struct ProgramComparison {
  std::vector<ProgramDifference> differences;
  size_t equal_nodes = 0;
  size_t follows = 0;
};
ProgramComparison compare_programs(const ExportedProgram& a, const ExportedProgram& b);

}  // namespace flambeau::graph
