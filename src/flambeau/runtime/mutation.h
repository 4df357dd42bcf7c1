// Which inputs of a graph its instructions may write to, directly or through a view: those must be copied
// before a run that may still fail.
#pragma once

#include <vector>

#include "flambeau/runtime/code.h"

namespace flambeau::runtime {

// Beside Code::inputs. Says yes where an operator may return its argument or a view of it.
std::vector<bool> find_written_inputs(const Code& code);

}  // namespace flambeau::runtime
