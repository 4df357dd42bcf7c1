// Does to a TorchScript module everything the command can do to it, running included. Whatever the bytes are,
// each step ends well or with an Error, within the limits that it is given.
#pragma once

#include <memory>
#include <optional>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"

namespace flambeau::hostile {

// Archives, mobile modules, flatbuffers, packages. Gives the code with which the file was refused; nothing
// when it opened. Throws std::logic_error where an Error says that we are to blame, or where what was written
// cannot be read.
std::optional<ErrorCode> exercise_script(const std::shared_ptr<Mapping>& mapping);

}  // namespace flambeau::hostile
