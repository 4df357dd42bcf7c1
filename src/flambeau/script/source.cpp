#include "flambeau/script/source.h"

#include <algorithm>
#include <limits>

#include "flambeau/base/error.h"

namespace flambeau::script {
namespace {

constexpr int kLinesBefore = 3;
constexpr int kLinesBehind = 2;
constexpr size_t kMostShownOfLine = 200;

}  // namespace

std::string_view SourceRange::text() const {
  if (source == nullptr) return {};
  const std::string_view all = source->text();
  const size_t from = std::min<size_t>(start, all.size());
  return all.substr(from, std::max(start, end) - start);
}

Source::Source(std::string text, std::string file_name, size_t first_line,
               std::shared_ptr<const SourceOrigins> origins)
    : text_(std::move(text)),
      file_name_(std::move(file_name)),
      first_line_(first_line),
      origins_(std::move(origins)) {
  if (text_.size() >= std::numeric_limits<uint32_t>::max()) {
    throw Error(ErrorCode::kLimit,
                "a script of " + std::to_string(text_.size()) + " bytes is longer than 4 GiB");
  }
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    line_ends_.push_back(static_cast<uint32_t>(at));
}

size_t Source::line_of(size_t offset) const {
  const auto behind = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
  return first_line_ + static_cast<size_t>(behind - line_ends_.begin());
}

std::string_view Source::line_text(size_t offset, size_t* begins) const {
  offset = std::min(offset, text_.size());
  const size_t before = offset == 0 ? std::string::npos : text_.rfind('\n', offset - 1);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  if (begins != nullptr) *begins = begin;
  return std::string_view(text_).substr(begin, std::min(text_.find('\n', offset), text_.size()) - begin);
}

std::string highlight(const SourceRange& range) {
  if (!range) return {};
  const Source& source = *range.source;
  size_t begin = 0;
  const std::string_view line = source.line_text(range.start, &begin);
  std::string shown;
  if (!source.file_name().empty()) {
    shown = "  File \"" + printable(source.file_name()) + "\", line " +
            std::to_string(source.line_of(range.start)) + "\n";
  }
  size_t first = begin;
  for (int i = 0; i < kLinesBefore && first > 0; ++i) source.line_text(first - 1, &first);
  for (size_t at = first; at < begin;) {
    const std::string_view before = source.line_text(at);
    shown += printable(before, kMostShownOfLine) + "\n";
    at += before.size() + 1;
  }
  shown += printable(line, kMostShownOfLine) + "\n";
  const size_t column =
      std::min<size_t>(std::min<size_t>(range.start, source.text().size()) - begin, kMostShownOfLine);
  const size_t end = std::min<size_t>(range.end, begin + line.size());
  const size_t width = std::min(end > range.start ? end - range.start : 1, kMostShownOfLine);
  shown += std::string(column, ' ') + std::string(width, '~') + " <--- HERE\n";
  size_t at = begin + line.size() + 1;
  for (int i = 0; i < kLinesBehind && at < source.text().size(); ++i) {
    const std::string_view behind = source.line_text(at);
    shown += printable(behind, kMostShownOfLine) + "\n";
    at += behind.size() + 1;
  }
  return shown;
}

}  // namespace flambeau::script
