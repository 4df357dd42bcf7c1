// What inspect says of one exported program.
#pragma once

#include "flambeau/json.h"
#include "flambeau/program.h"

namespace flambeau::cli {

json::Value program_json(const pt2::Model& model);
// `limit`: rows per table; 0 for all.
void print_program(const pt2::Model& model, size_t limit);

}  // namespace flambeau::cli
