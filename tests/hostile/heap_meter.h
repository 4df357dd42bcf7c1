// How much memory was taken at the worst moment. Counts every malloc and free of the process, through the
// address sanitizer's hooks; without that sanitizer nothing is counted.
#pragma once

#include <cstdint>

namespace flambeau::hostile {

class HeapMeter {
 public:
  static bool is_available();
  // Starts over: what is taken now counts as nothing.
  static void reset();
  // The most bytes taken at once since then, by what was taken since then.
  static uint64_t peak();
};

}  // namespace flambeau::hostile
