// Where a loaded library finds its program: behind its own code, or in the package that it came in.
#pragma once

#include <string>

#include "flambeau/graph/program.h"

namespace flambeau::aot {

// `folder`: where PyTorch has unpacked the package, as far as it says. Throws Error(kNotFound) that says what
// was looked for, and what reading a package throws.
graph::ExportedProgram find_program(const std::string& folder);

}  // namespace flambeau::aot
