// Any bytes are tensors or an Error; tensors survive being written and read again.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/formats/safetensors/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  SafetensorsFile file;
  try {
    file = read_safetensors(Mapping::from_buffer({data, data + size}));
  } catch (const Error&) {
    return 0;
  }
  MemorySink first;
  write_safetensors(first, file.tensors, file.metadata);
  const SafetensorsFile again = read_safetensors(Mapping::from_buffer(first.buffer()));
  MemorySink second;
  write_safetensors(second, again.tensors, again.metadata);
  if (again.tensors.size() != file.tensors.size() || first.buffer() != second.buffer()) std::abort();
  return 0;
}
