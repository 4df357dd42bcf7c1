#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::syntax {

PlacedError::PlacedError(ErrorCode code, const std::string& message, std::string remedy, SourceRange place)
    : Error(code, message + ":\n" + highlight(place), std::move(remedy)),
      place_(std::move(place)),
      said_(message) {
  locate(*this, place_);
}

ConsequentError::ConsequentError()
    : Error(ErrorCode::kInvalidArgument, "this depends on something that has errors") {}

void fail_at(const SourceRange& range, ErrorCode code, std::string message, std::string remedy) {
  if (!range) throw Error(code, std::move(message), std::move(remedy));
  throw PlacedError(code, message, std::move(remedy), range);
}

void locate(Error& error, const SourceRange& range) {
  if (!range || !error.locations().empty()) return;
  error.add_location("line", std::to_string(range.source->line_of(range.start)));
  if (!range.source->file_name().empty()) error.add_location("file", printable(range.source->file_name()));
}

void fail_at(const SourceRange& range, std::string message, std::string remedy) {
  fail_at(range, ErrorCode::kCorrupt, std::move(message), std::move(remedy));
}

}  // namespace flambeau::script::syntax
