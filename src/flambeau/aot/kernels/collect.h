// Which groups of operators of a program could be machine code.
#pragma once

#include <string>
#include <vector>

#include "flambeau/graph/program.h"

namespace flambeau::aot {

// The code of each (ops/engines/block_code.h), once, in the order in which a run with the program's example
// inputs comes to them; in plans as compiled models make them. Throws Error(kInvalidArgument) where there are
// no example inputs.
std::vector<std::string> collect_kernels(const graph::ExportedProgram& program);

}  // namespace flambeau::aot
