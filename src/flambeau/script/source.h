// A text that was compiled, and places in it. Ranges keep their text alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flambeau::script {

class Source;

// Bytes `start` to `end` of a source; without a source, no place at all.
struct SourceRange {
  std::shared_ptr<const Source> source;
  uint32_t start = 0;
  uint32_t end = 0;

  explicit operator bool() const { return source != nullptr; }
  std::string_view text() const;
  bool operator==(const SourceRange&) const = default;
};

// Where a place of a serialized text comes from: what the archive's debug information says.
class SourceOrigins {
 public:
  virtual ~SourceOrigins() = default;
  // The range of the original source that applies at that byte; nothing when none is known.
  virtual std::optional<SourceRange> find(size_t offset) const = 0;
};

class Source {
 public:
  // `first_line`: the number of the text's first line in its file. Throws Error(kLimit) for 4 GiB and more.
  Source(std::string text, std::string file_name, size_t first_line = 1,
         std::shared_ptr<const SourceOrigins> origins = nullptr);

  const std::string& text() const { return text_; }
  // "code/__torch__/m.py"; empty when the text has none.
  const std::string& file_name() const { return file_name_; }
  size_t first_line() const { return first_line_; }
  const SourceOrigins* origins() const { return origins_.get(); }
  // The line of the file that holds the byte, counted from first_line().
  size_t line_of(size_t offset) const;
  // The text's line with that byte, without its end, and where it begins.
  std::string_view line_text(size_t offset, size_t* begins = nullptr) const;

 private:
  std::string text_;
  std::string file_name_;
  size_t first_line_;
  std::shared_ptr<const SourceOrigins> origins_;
  std::vector<uint32_t> line_ends_;  // where the newlines are
};

// The lines around a range with the range underlined, as PyTorch shows a place.
std::string highlight(const SourceRange& range);

}  // namespace flambeau::script
