// The canonical form: programs that compute the same in the same way become the same text, whatever their
// nodes and values were called and in whichever of the valid orders they stood.
#pragma once

#include <string>
#include <unordered_set>

#include "flambeau/graph/program.h"

namespace flambeau::graph {

// What PyTorch's canonicalize() gives for the same program: inputs and outputs ordered by kind and target,
// nodes in topological order with ties broken by operator and operands, values named _0, _1, ... in that
// order, node metadata removed, value tables sorted, subgraphs likewise. Like PyTorch it leaves three kinds
// of names as they were: those in the module call graph, in arguments that are dictionaries, and of custom
// objects among the user inputs. `constants`: names that count as given from outside. Throws Error(kCorrupt)
// for a graph that cannot be ordered; verify() says more about it.
ExportedProgram canonicalize(const ExportedProgram& program,
                             const std::unordered_set<std::string>& constants);
// The same with the program's own constants and objects.
ExportedProgram canonicalize(const ExportedProgram& program);

}  // namespace flambeau::graph
