// Any bytes as a file that somebody asks about: judged and described, with what lies inside of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/safety/safety.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  const std::shared_ptr<Mapping> file = Mapping::from_buffer(std::vector<uint8_t>(data, data + size));
  check_file(file);
  try {
    inspect_file(file);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
  return 0;
}
