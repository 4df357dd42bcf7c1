// Copies between memories, where the plan's backend has one of its own: its layers read and write there, all
// other steps on the host. Each buffer that both need gets a twin on the device.
#pragma once

#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {

// Does nothing for a backend on the host. What enters and leaves the run is the host's.
void add_transfers(Plan& plan);

}  // namespace flambeau::runtime
