// Work that can be stopped, and limited in time and memory: a WorkScope around any calls of the library.
//
//   const WorkScope scope({.seconds = 2, .bytes = 1 << 30});
//   const Checkpoint checkpoint = load_checkpoint("model.pt");  // Error(kLimit) where that is not enough
#pragma once

#include "flambeau/base/work.h"  // IWYU pragma: export
