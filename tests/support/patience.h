// How long tests of speed wait: so many times what they say, for emulated machines and sanitizers.
// FLAMBEAU_PATIENCE.
#pragma once

#include <cstdlib>

namespace flambeau {

inline double patience() {
  const char* const given = std::getenv("FLAMBEAU_PATIENCE");
  return given == nullptr ? 1 : std::atof(given);
}

}  // namespace flambeau
