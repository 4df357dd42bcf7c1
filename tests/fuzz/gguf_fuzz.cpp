// Any bytes are tensors or an Error; the values of small ones can be read.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/formats/gguf/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  try {
    const GgufFile file = read_gguf(Mapping::from_buffer({data, data + size}));
    for (const GgufTensor& entry : file.tensors) {
      if (entry.tensor.storage()->bytes().size() != entry.tensor.byte_count()) std::abort();
    }
  } catch (const Error&) {
    // Refusing is fine. Anything else that leaves the reader is a bug.
  }
  return 0;
}
