// Text that knows, piece by piece, which range of a source it comes from: what an archive's debug information
// is made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/script/source.h"

namespace flambeau::script {

// From `offset` on, the text comes from `range`, which may be no place at all.
struct TextOrigin {
  size_t offset = 0;
  SourceRange range;
};

class TaggedText {
 public:
  // Nothing is noted for an empty piece, nor where the range stays the same.
  void append(std::string_view piece, const SourceRange& range);
  void append(const TaggedText& other);

  const std::string& text() const { return text_; }
  const std::vector<TextOrigin>& origins() const { return origins_; }

 private:
  void note(size_t offset, const SourceRange& range);
  std::string text_;
  std::vector<TextOrigin> origins_;
};

}  // namespace flambeau::script
