// The kernels of a compiled model, loaded: machine code that is run in place of the groups it was made of.
#pragma once

#include <map>
#include <vector>

#include "flambeau/aot/kernels/table.h"
#include "flambeau/aot/memory_library.h"
#include "flambeau/ops/engines/block_kernel.h"

namespace flambeau::aot {

class LoadedKernels : public ops::BlockKernels {
 public:
  // Those of this processor's level. Throws what read_kernels(), check_kernel_library() and MemoryLibrary do.
  explicit LoadedKernels(ByteSpan bytes);
  ops::BlockKernel find(std::string_view code) const override;

 private:
  KernelTable table_;
  MemoryLibrary library_;
  std::map<KernelKey, ops::BlockKernel> functions_;
};

}  // namespace flambeau::aot
