// Does to a file everything the command can do to it. Whatever the bytes are, each step ends well or with
// an Error; anything else that comes out is a bug of ours.
#pragma once

#include <memory>
#include <optional>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"

namespace flambeau::hostile {

// Gives the code with which load_checkpoint, or load_package of a program, refused the file; nothing when it
// opened. Throws
// std::logic_error where two readings of the same bytes disagree, or an Error has the code kInternal.
std::optional<ErrorCode> exercise(const std::shared_ptr<Mapping>& mapping);

}  // namespace flambeau::hostile
