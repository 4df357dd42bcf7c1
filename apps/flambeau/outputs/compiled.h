// Compiled models of a package, for people.
#pragma once

#include <cstdint>

#include "flambeau/inspect.h"

namespace flambeau::cli {

void print_compiled(const CompiledModel& model, uint64_t limit);

}  // namespace flambeau::cli
