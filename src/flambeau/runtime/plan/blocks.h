// Elementwise steps that follow one another become one step, which computes all of them block by block
// (ops/engines/block_program.h): what lies between them is never in memory. The numbers stay bit for bit.
// Where the context has machine code for a group, its step runs that.
#pragma once

#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {

void fuse_elementwise_steps(ops::Context& context, Plan& plan);

}  // namespace flambeau::runtime
