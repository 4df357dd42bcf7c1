// Does to an exported program everything the command can do to it. Whatever the bytes are, each step ends
// well or with an Error; anything else that comes out is a bug of ours.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/graph/program.h"

namespace flambeau::hostile {

// Gives the code with which load_package refused the file; nothing when it opened. Throws std::logic_error
// where what was written reads as another program, or an Error says that we are to blame.
std::optional<ErrorCode> exercise_package(const std::shared_ptr<Mapping>& mapping);
// The same of a program's JSON, with read_program.
std::optional<ErrorCode> exercise_program_json(std::string_view text);
// What is done to each program; throws as above.
void exercise_program(const graph::ExportedProgram& program);

}  // namespace flambeau::hostile
