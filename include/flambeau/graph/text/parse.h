// Programs from the lossless text form, also when a person edited it.
#pragma once

#include <string_view>

#include "flambeau/graph/program.h"

namespace flambeau::graph {

// The program that to_text() with TextOptions::lossless printed, without weights. Not verified: names that
// nothing gives become values without a producer, as in read_program(). Throws Error(kCorrupt) located at the
// line and column, and Error(kLimit) for text over 1 GiB or nested too deeply.
ExportedProgram parse_text(std::string_view text);

}  // namespace flambeau::graph
