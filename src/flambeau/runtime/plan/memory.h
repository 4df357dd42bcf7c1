// Lays buffers out in one piece of memory: two that are needed at the same time never overlap, others may.
#pragma once

#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {

// Finds when each buffer is needed and where it lies; sets the bytes of both arenas and of the scratch
// memory.
void place_buffers(Plan& plan);

}  // namespace flambeau::runtime
