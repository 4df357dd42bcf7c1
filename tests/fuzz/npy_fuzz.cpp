// Any bytes are an array (or a .npz of arrays) or an Error; an array survives being written and read again.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/npy/npz.h"

namespace {

// A .npz may refuse to be written again (a name such as "../x"), but never otherwise than with an Error.
void try_npz(const std::shared_ptr<flambeau::Mapping>& mapping) {
  using namespace flambeau;
  try {
    const NpzFile file = read_npz(mapping, {.inflate_bytes = 1U << 20});
    MemorySink sink;
    write_npz(sink, file.tensors);
    const NpzFile again = read_npz(Mapping::from_buffer(sink.take()));
    if (again.tensors.size() != file.tensors.size()) std::abort();
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  const auto mapping = Mapping::from_buffer({data, data + size});
  if (zip::looks_like_zip(mapping->bytes())) try_npz(mapping);
  MemorySink first;
  try {
    const Tensor tensor = read_npy(mapping);
    write_npy(first, tensor);
  } catch (const Error&) {
    return 0;
  }
  MemorySink second;
  write_npy(second, read_npy(Mapping::from_buffer(first.buffer())));
  if (first.buffer() != second.buffer()) std::abort();
  return 0;
}
