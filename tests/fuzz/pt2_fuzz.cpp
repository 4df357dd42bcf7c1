// Any bytes are a .pt2 file or an Error; one that opens can be checked, printed, brought into its canonical
// form, and written in each layout, and reads again as the same program.
#include "hostile/exercise_program.h"

#include "flambeau/base/files/mapping.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  flambeau::hostile::exercise_package(flambeau::Mapping::from_buffer({data, data + size}));
  return 0;
}
