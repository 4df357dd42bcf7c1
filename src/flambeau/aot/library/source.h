// Where a loaded library finds its program: behind its own code, or in the package that it came in. Its
// kernels, where it has some, lie behind its own code.
#pragma once

#include <memory>
#include <string>

#include "flambeau/graph/program.h"

namespace flambeau::ops {
class BlockKernels;
}

namespace flambeau::aot {

struct Source {
  graph::ExportedProgram program;
  std::shared_ptr<const ops::BlockKernels> kernels;  // null for none
};

// `folder`: where PyTorch has unpacked the package, as far as it says. Throws Error(kNotFound) that says what
// was looked for, and what reading a package throws.
Source find_source(const std::string& folder);

}  // namespace flambeau::aot
