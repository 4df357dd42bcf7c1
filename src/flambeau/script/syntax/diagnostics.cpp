#include "flambeau/script/syntax/diagnostics.h"

#include <algorithm>

#include "flambeau/script/syntax/failure.h"

namespace flambeau::script {
namespace {

constexpr size_t kMostShownOfDiagnostic = 160;

// Bytes of UTF-8 that begin a character.
size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(),
                                           [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

std::string joined_diagnostics(const std::vector<Diagnostic>& diagnostics, bool is_cut) {
  std::string text;
  if (diagnostics.size() > 1) text = std::to_string(diagnostics.size()) + " errors:\n";
  for (const Diagnostic& diagnostic : diagnostics) text += to_text(diagnostic) + "\n";
  if (is_cut) text += "... and there may be more\n";
  text.pop_back();
  return text;
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) text = diagnostic.file + ":";
  if (diagnostic.line != 0)
    text += std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column) + ":";
  if (!text.empty()) text += " ";
  text += diagnostic.message;
  if (diagnostic.line == 0) return diagnostic.remedy.empty() ? text : text + " (" + diagnostic.remedy + ")";
  const std::string number = std::to_string(diagnostic.line);
  const std::string margin(number.size() + 2, ' ');
  text += "\n  " + number + " | " + diagnostic.line_text + "\n" + margin + " | ";
  text += std::string(std::max<size_t>(diagnostic.column, 1) - 1, ' ') + "^" +
          std::string(std::max<size_t>(diagnostic.width, 1) - 1, '~');
  if (!diagnostic.remedy.empty()) text += "\n" + margin + " = " + diagnostic.remedy;
  return text;
}

CompileError::CompileError(ErrorCode code, std::vector<Diagnostic> diagnostics, bool is_cut)
    : Error(code, joined_diagnostics(diagnostics, is_cut)), diagnostics_(std::move(diagnostics)) {}

namespace syntax {

void Diagnostics::add(const Error& error, const SourceRange& place) {
  if (dynamic_cast<const ConsequentError*>(&error) != nullptr) return;
  if (dynamic_cast<const CompileError*>(&error) != nullptr) throw_all(true);  // it is on its way out
  Diagnostic made;
  SourceRange at = place;
  made.message = error.message();
  if (const auto* placed = dynamic_cast<const PlacedError*>(&error)) {
    made.message = placed->said();
    at = placed->place();
  }
  made.remedy = error.remedy();
  // Users' texts have no such names: archives give them.
  constexpr std::string_view kPrefix = "__torch__.";
  for (size_t found = made.message.find(kPrefix); found != std::string::npos;
       found = made.message.find(kPrefix, found)) {
    made.message.erase(found, kPrefix.size());
  }
  if (at) {
    size_t begin = 0;
    const std::string_view line = at.source->line_text(at.start, &begin);
    const size_t start = std::clamp<size_t>(at.start, begin, begin + line.size());
    const size_t end = std::clamp<size_t>(at.end, start, begin + line.size());
    made.file = printable(at.source->file_name());
    made.line = at.source->line_of(at.start);
    // A tab is a character wide, so that the mark stands below what it marks.
    std::string plain(line);
    std::replace(plain.begin(), plain.end(), '\t', ' ');
    made.line_text = printable(plain, kMostShownOfDiagnostic);
    made.column = std::min(characters(line.substr(0, start - begin)), kMostShownOfDiagnostic) + 1;
    made.width =
        std::clamp<size_t>(characters(line.substr(start - begin, end - start)), 1, kMostShownOfDiagnostic);
    if (!lines_.insert({made.file, made.line}).second) return;
  }
  if (error.code() == ErrorCode::kLimit) is_limit_ = true;
  found_.push_back(std::move(made));
  if (found_.size() >= kMost) throw_all(true);
}

void Diagnostics::throw_if_any() const {
  if (!found_.empty()) throw_all(false);
}

void Diagnostics::throw_all(bool is_cut) const {
  std::vector<Diagnostic> sorted = found_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
  throw CompileError(is_limit_ ? ErrorCode::kLimit : ErrorCode::kInvalidArgument, std::move(sorted), is_cut);
}

}  // namespace syntax
}  // namespace flambeau::script
