// The builtins of a script that is traced: those that compute with sizes keep them symbols, those that look
// at elements know which are known, and all others get the example's numbers, which the program then relies
// on.
#pragma once

#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/migrate/traced_calls.h"

namespace flambeau::migration {

// `calls` must outlive what is given.
interpreter::Builtins traced_builtins(TracedCalls& calls);

}  // namespace flambeau::migration
