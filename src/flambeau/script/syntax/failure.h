// Errors that point at a place of a script.
#pragma once

#include <string>

#include "flambeau/base/error.h"
#include "flambeau/script/source.h"

namespace flambeau::script::syntax {

// Knows its place and what it said before the lines around the place were added.
class PlacedError : public Error {
 public:
  PlacedError(ErrorCode code, const std::string& message, std::string remedy, SourceRange place);
  const SourceRange& place() const { return place_; }
  const std::string& said() const { return said_; }

 private:
  SourceRange place_;
  std::string said_;
};

// Of something that fails because something else did, which has been told already.
class ConsequentError : public Error {
 public:
  ConsequentError();
};

// Throws an Error whose message ends with the lines around the place, underlined, and whose locations are the
// file and the line.
[[noreturn]] void fail_at(const SourceRange& range, ErrorCode code, std::string message,
                          std::string remedy = {});
// Of a text that is no script, or one that makes no sense: Error(kCorrupt).
[[noreturn]] void fail_at(const SourceRange& range, std::string message, std::string remedy = {});

// For errors that pass by: gives one that names no place this one.
void locate(Error& error, const SourceRange& range);

}  // namespace flambeau::script::syntax
