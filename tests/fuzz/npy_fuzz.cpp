// Any bytes are an array (or a .npz of arrays) or an Error; an array survives being written and read again.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/formats/npy/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  MemorySink first;
  try {
    const Tensor tensor = read_npy(Mapping::from_buffer({data, data + size}));
    write_npy(first, tensor);
  } catch (const Error&) {
    return 0;
  }
  MemorySink second;
  write_npy(second, read_npy(Mapping::from_buffer(first.buffer())));
  if (first.buffer() != second.buffer()) std::abort();
  return 0;
}
