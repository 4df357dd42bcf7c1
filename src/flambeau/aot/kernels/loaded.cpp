#include "flambeau/aot/kernels/loaded.h"

namespace flambeau::aot {
namespace {

KernelTable checked(ByteSpan bytes) {
  KernelTable table = read_kernels(bytes);
  check_kernel_library(table.library, table.keys.size());
  return table;
}

}  // namespace

LoadedKernels::LoadedKernels(ByteSpan bytes)
    : table_(checked(bytes)), library_("kernels", table_.library, Binding::kShared) {
  for (size_t i = 0; i < table_.keys.size(); ++i) {
    void* const address = library_.find(kernel_name(i, current_isa()));
    functions_.emplace(table_.keys[i], reinterpret_cast<ops::BlockKernel>(address));
  }
  table_ = {};  // the bytes are the caller's
}

ops::BlockKernel LoadedKernels::find(std::string_view code) const {
  const auto found = functions_.find(key_of(code));
  return found == functions_.end() ? nullptr : found->second;
}

}  // namespace flambeau::aot
