// Errors that point at a place of a script.
#pragma once

#include <string>

#include "flambeau/base/error.h"
#include "flambeau/script/source.h"

namespace flambeau::script::syntax {

// Throws an Error whose message ends with the lines around the place, underlined, and whose locations are the
// file and the line.
[[noreturn]] void fail_at(const SourceRange& range, ErrorCode code, std::string message,
                          std::string remedy = {});
// Of a text that is no script, or one that makes no sense: Error(kCorrupt).
[[noreturn]] void fail_at(const SourceRange& range, std::string message, std::string remedy = {});

// For errors that pass by: gives one that names no place this one.
void locate(Error& error, const SourceRange& range);

}  // namespace flambeau::script::syntax
