// What inspect says of one exported program.
#pragma once

#include "flambeau/program.h"

namespace flambeau::cli {

// `limit`: rows per table; 0 for all.
void print_program(const pt2::Model& model, size_t limit);

}  // namespace flambeau::cli
