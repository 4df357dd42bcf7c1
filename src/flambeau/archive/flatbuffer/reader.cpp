#include "flambeau/archive/flatbuffer/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "flambeau/base/error.h"

namespace flambeau::flatbuffer {
namespace {

constexpr size_t kHeader = 8;  // the root's offset and the identifier
constexpr uint64_t kMostBytes = uint64_t{1} << 31;
constexpr uint32_t kFieldListHeader = 4;
// What may be gone through: shared strings are read once for each that shares them.
constexpr uint64_t kMostTimes = 16;
constexpr uint64_t kLeastBudget = uint64_t{64} << 20;

}  // namespace

Buffer::Buffer(ByteSpan bytes)
    : bytes_(bytes), left_(std::max<uint64_t>(kLeastBudget, bytes.size() * kMostTimes)) {
  if (bytes.size() < kHeader) {
    corrupt(fmt::format("a flatbuffer has at least {} bytes, found {}", kHeader, bytes.size()),
            "the file is incomplete: get it again");
  }
  if (bytes.size() >= kMostBytes) throw Error(ErrorCode::kLimit, "a flatbuffer of 2 GiB or more");
}

void Buffer::fail(uint64_t at, std::string message) const {
  throw Error(ErrorCode::kCorrupt, std::move(message)).add_location("byte", std::to_string(at));
}

const uint8_t* Buffer::need(uint64_t at, uint64_t count, uint32_t alignment, std::string_view what) const {
  if (at > bytes_.size() || count > bytes_.size() - at) {
    fail(at, fmt::format("{} of {} bytes reaches beyond the end of the flatbuffer, which has {}", what, count,
                         bytes_.size()));
  }
  if (at % alignment != 0) fail(at, fmt::format("{} does not lie at a multiple of {}", what, alignment));
  return bytes_.data() + at;
}

uint64_t Buffer::follow(uint64_t at, std::string_view what) const {
  const auto offset = load_le<uint32_t>(need(at, sizeof(uint32_t), sizeof(uint32_t), what));
  if (offset == 0) fail(at, fmt::format("the offset of {} is 0", what));
  return at + offset;
}

void Buffer::charge(uint64_t bytes) const {
  if (bytes > left_) {
    throw Error(ErrorCode::kLimit, "the flatbuffer refers to the same bytes far too often");
  }
  left_ -= bytes;
}

ByteSpan Buffer::elements(uint64_t at, uint32_t element_size, uint32_t alignment,
                          std::string_view what) const {
  const auto count = load_le<uint32_t>(need(at, sizeof(uint32_t), sizeof(uint32_t), what));
  const uint64_t size = uint64_t{count} * element_size;
  const uint8_t* const from = need(at + sizeof(uint32_t), size, count == 0 ? 1 : alignment, what);
  charge(size);
  return {from, static_cast<size_t>(size)};
}

std::string_view Buffer::text(uint64_t at, std::string_view what) const {
  const std::string_view found = as_text(elements(at, 1, 1, what));
  const uint64_t end = at + sizeof(uint32_t) + found.size();
  if (*need(end, 1, 1, what) != 0) fail(end, fmt::format("{} does not end with a zero byte", what));
  return found;
}

Table Table::root(const Buffer& buffer) { return {buffer, buffer.follow(0, "the root table")}; }

Table::Table(const Buffer& buffer, uint64_t at) : buffer_(&buffer), at_(at) {
  const auto back = load_le<int32_t>(buffer.need(at, sizeof(int32_t), sizeof(int32_t), "a table"));
  const int64_t fields = static_cast<int64_t>(at) - back;
  if (fields < 0) buffer.fail(at, "the field list of a table lies before the flatbuffer");
  fields_ = static_cast<uint64_t>(fields);
  const uint8_t* const list =
      buffer.need(fields_, kFieldListHeader, sizeof(uint16_t), "the field list of a table");
  fields_size_ = load_le<uint16_t>(list);
  size_ = load_le<uint16_t>(list + sizeof(uint16_t));
  if (fields_size_ < kFieldListHeader || fields_size_ % sizeof(uint16_t) != 0) {
    buffer.fail(fields_, fmt::format("the field list of a table cannot have {} bytes", fields_size_));
  }
  if (size_ < sizeof(int32_t)) {
    buffer.fail(fields_, fmt::format("a table cannot have {} bytes", size_));
  }
  buffer.need(fields_, fields_size_, sizeof(uint16_t), "the field list of a table");
  buffer.need(at, size_, sizeof(int32_t), "a table");
  buffer.charge(sizeof(int32_t));
}

std::optional<uint64_t> Table::place(uint32_t field, uint32_t size, uint32_t alignment,
                                     std::string_view what) const {
  const uint32_t entry = kFieldListHeader + field * static_cast<uint32_t>(sizeof(uint16_t));
  if (entry + sizeof(uint16_t) > fields_size_) return std::nullopt;
  const auto offset = load_le<uint16_t>(buffer_->bytes().data() + fields_ + entry);
  if (offset == 0) return std::nullopt;
  if (offset < sizeof(int32_t) || uint32_t{offset} + size > size_) {
    buffer_->fail(at_, fmt::format("{} lies outside of its table of {} bytes", what, size_));
  }
  buffer_->need(at_ + offset, size, alignment, what);
  return at_ + offset;
}

uint64_t Table::required(uint32_t field, std::string_view what) const {
  const std::optional<uint64_t> at = place(field, sizeof(uint32_t), sizeof(uint32_t), what);
  if (!at) buffer_->fail(at_, fmt::format("{} is missing", what));
  return buffer_->follow(*at, what);
}

ByteSpan Table::structure(uint32_t field, uint32_t size, uint32_t alignment, std::string_view what) const {
  return {buffer_->need(required(field, what), size, alignment, what), size};
}

std::optional<Table> Table::find_table(uint32_t field, std::string_view what) const {
  const std::optional<uint64_t> at = place(field, sizeof(uint32_t), sizeof(uint32_t), what);
  if (!at) return std::nullopt;
  return Table(*buffer_, buffer_->follow(*at, what));
}

Table Table::table(uint32_t field, std::string_view what) const { return {*buffer_, required(field, what)}; }

std::string_view Table::text(uint32_t field, std::string_view what) const {
  return buffer_->text(required(field, what), what);
}

ByteSpan Table::vector(uint32_t field, uint32_t element_size, uint32_t alignment,
                       std::string_view what) const {
  const std::optional<uint64_t> at = place(field, sizeof(uint32_t), sizeof(uint32_t), what);
  if (!at) return {};
  return buffer_->elements(buffer_->follow(*at, what), element_size, alignment, what);
}

Tables Table::tables(uint32_t field, std::string_view what) const {
  return {*buffer_, vector(field, sizeof(uint32_t), sizeof(uint32_t), what), what};
}

Strings Table::texts(uint32_t field, std::string_view what) const {
  return {*buffer_, vector(field, sizeof(uint32_t), sizeof(uint32_t), what), what};
}

Table Tables::operator[](size_t index) const {
  const auto at =
      static_cast<uint64_t>(offsets_.bytes().data() - buffer_->bytes().data()) + index * sizeof(uint32_t);
  return {*buffer_, buffer_->follow(at, what_)};
}

std::string_view Strings::operator[](size_t index) const {
  const auto at =
      static_cast<uint64_t>(offsets_.bytes().data() - buffer_->bytes().data()) + index * sizeof(uint32_t);
  return buffer_->text(buffer_->follow(at, what_), what_);
}

}  // namespace flambeau::flatbuffer
