// What must hold before a program may run, and what to do where it does not.
#pragma once

#include <string>
#include <vector>

#include "flambeau/runtime/interpreter.h"

namespace flambeau::runtime {

// Throws Error(kUnsupported) that names all of them.
void require_operators(const std::vector<MissingOperator>& missing);
// The same for conditions that cannot be read: what an author has stated must not be passed over in silence.
void require_readable(const std::vector<std::string>& unknown);

}  // namespace flambeau::runtime
