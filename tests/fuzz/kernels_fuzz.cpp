// Any bytes as a compiled model's library, and as the kernels behind its code: found or refused, never run.
// What is read is written as it was.
#include <cstdlib>

#include "flambeau/aot/kernels/table.h"
#include "flambeau/aot/payload.h"
#include "flambeau/base/error.h"

namespace {

void read(flambeau::ByteSpan bytes) {
  using namespace flambeau;
  aot::KernelTable table;
  try {
    table = aot::read_kernels(bytes);
  } catch (const Error&) {
    return;
  }
  const std::vector<uint8_t> written = aot::write_kernels(table);
  const aot::KernelTable again = aot::read_kernels(written);
  if (again.keys != table.keys || again.library.size() != table.library.size()) std::abort();
  try {
    aot::check_kernel_library(table.library, table.keys.size());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  read({data, size});
  try {
    const auto file = Mapping::from_buffer({data, data + size});
    if (const std::shared_ptr<Mapping> kernels = aot::find_kernels(file)) read(kernels->bytes());
    aot::find_payload(file);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
  return 0;
}
