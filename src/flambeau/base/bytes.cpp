#include "flambeau/base/bytes.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau {

ByteSpan ByteReader::bytes(uint64_t count, std::string_view what) {
  if (remaining() < count) fail_short(count, what);
  const ByteSpan result = bytes_.subspan(at_, count);
  at_ += count;
  return result;
}

std::string_view ByteReader::line(std::string_view what) {
  const std::string_view rest = as_text(bytes_.subspan(at_));
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) fail(fmt::format("{} has no end of line", what));
  at_ += end + 1;
  return rest.substr(0, end);
}

void ByteReader::seek(uint64_t offset, std::string_view what) {
  if (offset > bytes_.size()) {
    fail(fmt::format("{} is at byte {}, past the end at {}", what, base_ + offset, base_ + bytes_.size()));
  }
  at_ = offset;
}

void ByteReader::fail_at(size_t offset, std::string message) const {
  Error error(ErrorCode::kCorrupt, std::move(message));
  error.add_location("byte", std::to_string(base_ + offset));
  throw error;
}

void ByteReader::fail_short(uint64_t count, std::string_view what) const {
  fail(fmt::format("{} needs {} bytes, {} are left", what, count, remaining()));
}

}  // namespace flambeau
