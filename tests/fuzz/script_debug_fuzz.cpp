// Any bytes are debug information of TorchScript's code, or an Error; what was read can be written and read
// again.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/debug_info.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  try {
    const std::vector<script::TextOrigin> records = script::read_debug_pickle({data, size});
    for (const script::TextOrigin& record : records) {
      if (record.range.text().size() != record.range.end - record.range.start) std::abort();
    }
    script::DebugPickler pickler;
    const std::string written = pickler.pickle(records);
    if (script::read_debug_pickle(as_bytes(written)).size() != records.size()) std::abort();
  } catch (const Error&) {
    // Refusing is fine. Anything else that leaves the reader is a bug.
  }
  return 0;
}
