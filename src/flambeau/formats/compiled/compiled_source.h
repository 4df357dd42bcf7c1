// What the source of a compiled model says of its inputs, outputs and weights. It lies in the package for
// people to read; the library that was made of it has the same only in its code.
#pragma once

#include <string_view>

#include "flambeau/formats/compiled.h"
#include "flambeau/formats/description_budget.h"

namespace flambeau {

// Adds inputs, outputs, weights and the two specs. Lines of any other kind are passed over. Throws
// Error(kLimit) for more of them than a model has, or
// than the budget has room for.
void read_compiled_source(std::string_view text, CompiledModel& model, DescriptionBudget& budget);

}  // namespace flambeau
