// Modules of TorchScript in every form, loaded, run with few steps, written, frozen and migrated.
#include <cstddef>
#include <cstdint>

#include "hostile/exercise_script.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  hostile::exercise_script(Mapping::from_buffer(std::vector<uint8_t>(data, data + size)));
  return 0;
}
