// What of an exported program PyTorch would evaluate, import or run besides its operators. Internal to the
// check of files.
#pragma once

#include <functional>
#include <string_view>

#include "flambeau/formats/safety/safety.h"
#include "flambeau/graph/program.h"

namespace flambeau::safety {

using Report = std::function<void(Severity severity, std::string message)>;

void check_program(const graph::ExportedProgram& program, const Report& report);

}  // namespace flambeau::safety
