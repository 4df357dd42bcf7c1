// Whole files of any kind: everything the command can do to them ends well or with an Error.
#include "hostile/exercise.h"

#include "flambeau/base/files/mapping.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  flambeau::hostile::exercise(flambeau::Mapping::from_buffer({data, data + size}));
  return 0;
}
