#include "flambeau/script/printer/tagged_text.h"

namespace flambeau::script {

void TaggedText::note(size_t offset, const SourceRange& range) {
  if (origins_.empty() || origins_.back().range != range) origins_.push_back({offset, range});
}

void TaggedText::append(std::string_view piece, const SourceRange& range) {
  if (piece.empty()) return;
  note(text_.size(), range);
  text_ += piece;
}

void TaggedText::append(const TaggedText& other) {
  for (const TextOrigin& origin : other.origins_) note(text_.size() + origin.offset, origin.range);
  text_ += other.text_;
}

}  // namespace flambeau::script
