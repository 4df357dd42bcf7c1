// Any bytes as a shared library, and as the source beside it: described or refused, never run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "flambeau/archive/elf/reader.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/compiled/compiled_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  const ByteSpan bytes(data, size);
  try {
    const elf::Library library = elf::read(bytes);
    for (const elf::Symbol& symbol : library.exports) {
      try {
        library.bytes_at(symbol.address, symbol.size);
      } catch (const Error&) {
      }
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
  try {
    CompiledModel model;
    DescriptionBudget budget(size);
    read_compiled_source(as_text(bytes), model, budget);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
  return 0;
}
