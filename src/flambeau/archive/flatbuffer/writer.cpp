#include "flambeau/archive/flatbuffer/writer.h"

#include <algorithm>
#include <limits>

#include "flambeau/base/error.h"

namespace flambeau::flatbuffer {
namespace {

constexpr size_t kMostSize = static_cast<size_t>(std::numeric_limits<int32_t>::max());

}  // namespace

void Builder::grow(size_t count) {
  if (count > kMostSize - size_) {
    throw Error(ErrorCode::kLimit, "a flatbuffer holds less than 2 GiB", "write a .ptl or .pt file");
  }
  size_ += count;
}

void Builder::push_bytes(ByteSpan bytes) {
  grow(bytes.size());
  parts_.back().reversed.insert(parts_.back().reversed.end(), bytes.rbegin(), bytes.rend());
}

void Builder::fill(size_t count) {
  grow(count);
  parts_.back().reversed.insert(parts_.back().reversed.end(), count, 0);
}

void Builder::align_before(size_t size, size_t alignment) {
  largest_alignment_ = std::max(largest_alignment_, alignment);
  fill((alignment - (size_ + size) % alignment) % alignment);
}

void Builder::begin_vector(size_t count, size_t element_size) {
  align_before(count * element_size, sizeof(uint32_t));
  align_before(count * element_size, element_size);
}

Built Builder::end_vector(size_t count) {
  push(static_cast<uint32_t>(count));
  return {static_cast<uint32_t>(size_)};
}

Built Builder::text(std::string_view text) {
  align_before(text.size() + 1, sizeof(uint32_t));
  fill(1);
  push_bytes(as_bytes(text));
  return end_vector(text.size());
}

Built Builder::shared_text(std::string_view shared) {
  const auto found = texts_.find(std::string(shared));
  if (found != texts_.end()) return found->second;
  return texts_.emplace(shared, text(shared)).first->second;
}

Built Builder::offsets(std::span<const Built> to) {
  begin_vector(to.size(), sizeof(uint32_t));
  for (size_t i = to.size(); i > 0; --i) push(offset_to(to[i - 1]));
  return end_vector(to.size());
}

Built Builder::structures(ByteSpan bytes, uint32_t size, uint32_t alignment) {
  align_before(bytes.size(), sizeof(uint32_t));
  align_before(bytes.size(), alignment);
  push_bytes(bytes);
  return end_vector(bytes.size() / size);
}

Built Builder::blob(ByteSpan bytes, uint32_t alignment) {
  align_before(bytes.size(), alignment);
  align_before(bytes.size(), sizeof(uint32_t));
  grow(bytes.size());
  parts_.back().blob = bytes;
  parts_.emplace_back();
  return end_vector(bytes.size());
}

Built Builder::structure(ByteSpan bytes, uint32_t alignment) {
  align(alignment);
  push_bytes(bytes);
  return {static_cast<uint32_t>(size_)};
}

void Builder::begin_table() {
  fields_.clear();
  table_begin_ = size_;
}

void Builder::note_field(uint32_t number) { fields_.emplace_back(number, size_); }

void Builder::field(uint32_t number, double value) {
  if (value == 0) return;
  align(sizeof(double));
  push(value);
  note_field(number);
}

void Builder::field(uint32_t number, Built to) {
  if (!to) return;
  push(offset_to(to));
  note_field(number);
}

uint32_t Builder::offset_to(Built to) {
  align(sizeof(uint32_t));
  return static_cast<uint32_t>(size_) - to.from_end + static_cast<uint32_t>(sizeof(uint32_t));
}

Built Builder::end_table() {
  align(sizeof(int32_t));
  const size_t table = size_ + sizeof(int32_t);
  uint32_t count = 0;
  for (const auto& [number, at] : fields_) count = std::max(count, number + 1);
  std::vector<uint16_t> list(count + 2, 0);
  list[0] = static_cast<uint16_t>(list.size() * sizeof(uint16_t));
  list[1] = static_cast<uint16_t>(table - table_begin_);
  for (const auto& [number, at] : fields_) list[number + 2] = static_cast<uint16_t>(table - at);
  const size_t list_size = list.size() * sizeof(uint16_t);
  const auto [known, is_new] = field_lists_.try_emplace(std::move(list), table + list_size);
  push(static_cast<int32_t>(static_cast<int64_t>(known->second) - static_cast<int64_t>(table)));
  if (is_new) {
    for (auto entry = known->first.rbegin(); entry != known->first.rend(); ++entry) push(*entry);
  }
  return {static_cast<uint32_t>(table)};
}

void Builder::finish(Built root, std::string_view identifier, ByteSink& sink) {
  align_before(sizeof(uint32_t) + identifier.size(), largest_alignment_);
  push_bytes(as_bytes(identifier));
  push(offset_to(root));
  for (size_t i = parts_.size(); i > 0; --i) {
    Part& part = parts_[i - 1];
    // A blob was pushed behind the bytes of its part: it comes first in the file.
    sink.write(part.blob);
    std::reverse(part.reversed.begin(), part.reversed.end());
    sink.write(part.reversed);
  }
}

}  // namespace flambeau::flatbuffer
