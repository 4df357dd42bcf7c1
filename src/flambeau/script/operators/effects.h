// Operators that do more than their schema says.
#pragma once

#include "flambeau/value/operator_name.h"

namespace flambeau::script {

// It must run although nobody uses what it gives, and not at another time: it talks to the outside, or asks
// for a state of the process. That it writes to an argument is for its schema to say.
bool has_side_effects(const OperatorName& name);
// It tells how a tensor's elements lie in memory.
bool sees_memory_order(const OperatorName& name);
// It says something once for each place in the code.
bool is_warning(const OperatorName& name);

}  // namespace flambeau::script
