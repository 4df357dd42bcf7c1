// Any bytes are a JSON value or an Error; a value survives dump and parse, and both readers agree.
#include <cstdlib>

#include "flambeau/archive/json/fallback.h"
#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string fast = "error";
  std::string slow = "error";
  try {
    fast = flambeau::json::dump(flambeau::json::parse(text));
  } catch (const flambeau::Error&) {
  }
  try {
    slow = flambeau::json::dump(flambeau::json::parse_slowly(text));
  } catch (const flambeau::Error&) {
  }
  if (fast != slow) std::abort();
  if (fast != "error" && flambeau::json::dump(flambeau::json::parse(fast)) != fast) std::abort();
  return 0;
}
