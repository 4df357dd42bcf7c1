#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::syntax {

void fail_at(const SourceRange& range, ErrorCode code, std::string message, std::string remedy) {
  if (!range) throw Error(code, std::move(message), std::move(remedy));
  Error error(code, message + ":\n" + highlight(range), std::move(remedy));
  locate(error, range);
  throw error;
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
