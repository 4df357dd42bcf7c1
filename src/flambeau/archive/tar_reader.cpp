#include "flambeau/archive/tar_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "flambeau/base/error.h"

namespace flambeau::tar {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kMostMembers = 100'000;

std::string_view field(ByteSpan header, size_t offset, size_t size) {
  const std::string_view text = as_text(header.subspan(offset, size));
  return text.substr(0, text.find('\0'));
}

std::optional<uint64_t> octal(std::string_view text) {
  uint64_t value = 0;
  bool has_digit = false;
  for (const char c : text) {
    if (c == ' ' && !has_digit) continue;
    if (c == ' ') break;
    if (c < '0' || c > '7' || value >> 60 != 0) return std::nullopt;
    value = value * 8 + static_cast<uint64_t>(c - '0');
    has_digit = true;
  }
  return has_digit ? std::optional(value) : std::nullopt;
}

struct Checksums {
  int64_t of_bytes = 0;
  int64_t of_signed_bytes = 0;  // as some early writers added them up
};

Checksums checksums(ByteSpan header) {
  Checksums sums;
  for (size_t i = 0; i < kBlock; ++i) {
    const uint8_t byte = i >= 148 && i < 156 ? ' ' : header[i];
    sums.of_bytes += byte;
    sums.of_signed_bytes += static_cast<int8_t>(byte);
  }
  return sums;
}

bool has_right_checksum(ByteSpan header) {
  const std::optional<uint64_t> stated = octal(field(header, 148, 8));
  return stated && static_cast<uint64_t>(checksums(header).of_bytes) == *stated;
}

// As Python's int(text, 8): signs, "0o", underscores and spaces around are fine; and as its tar reader, which
// also takes binary numbers behind a byte of 128 or 255.
std::optional<int64_t> lenient_number(std::string_view raw) {
  const auto first = static_cast<uint8_t>(raw[0]);
  int64_t value = 0;
  if (first == 0x80 || first == 0xFF) {
    for (const char c : raw.substr(1)) value = (value & 0xFFFFFFFFFFFF) << 8 | static_cast<uint8_t>(c);
    return value;
  }
  std::string_view text = raw.substr(0, raw.find('\0'));
  constexpr std::string_view kSpace = " \t\n\r\v\f\x1c\x1d\x1e\x1f";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  text = text.substr(0, text.find_last_not_of(kSpace) + 1);
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0o") || text.starts_with("0O")) text.remove_prefix(2);
  for (const char c : text) {
    if (c == '_') continue;
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + (c - '0');
  }
  return is_negative ? -value : value;
}

bool is_zero(ByteSpan block) {
  return std::all_of(block.begin(), block.end(), [](uint8_t byte) { return byte == 0; });
}

bool is_regular(ByteSpan header) {
  const uint8_t type = header[156];
  // POSIX archives may put the front part of a name into a field of its own.
  const bool has_prefix = field(header, 257, 6) == "ustar" && header[345] != 0;
  return (type == '0' || type == 0) && !has_prefix;
}

// Readers differ in which of two they take.
void refuse_equal_names(const std::vector<Member>& members) {
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const Member& member : members) names.push_back(member.name);
  std::ranges::sort(names);
  const auto same = std::ranges::adjacent_find(names);
  if (same == names.end()) return;
  throw Error(ErrorCode::kCorrupt, fmt::format("a tar archive has two members '{}'", printable(*same)));
}

// Extended headers, "27 mtime=1484131200.123456\n": Python wrote one for each file, to keep its time to the
// microsecond. Those that hold times and owners alone change nothing.
bool is_harmless_extension(ByteSpan header, ByteSpan data) {
  if (header[156] != 'x') return false;
  std::string_view text = as_text(data);
  while (!text.empty()) {
    const size_t space = text.find(' ');
    size_t size = 0;
    if (space == std::string_view::npos || space > 6) return false;
    for (const char c : text.substr(0, space)) {
      if (c < '0' || c > '9') return false;
      size = size * 10 + static_cast<size_t>(c - '0');
    }
    if (size <= space || size > text.size()) return false;
    const std::string_view record = text.substr(space + 1, size - space - 1);
    const std::string_view key = record.substr(0, record.find('='));
    constexpr std::string_view kHarmless[] = {"mtime", "atime", "ctime", "uid", "gid", "uname", "gname"};
    if (std::find(std::begin(kHarmless), std::end(kHarmless), key) == std::end(kHarmless)) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::vector<Member> members(ByteSpan bytes, bool want_regular) {
  std::vector<Member> found;
  ByteReader reader(bytes);
  while (reader.remaining() >= kBlock) {
    const size_t at = reader.offset();
    const ByteSpan header = reader.bytes(kBlock, "a tar header");
    if (is_zero(header)) break;
    if (!has_right_checksum(header)) reader.fail_at(at, "a tar header has a wrong checksum");
    const std::optional<uint64_t> size = octal(field(header, 124, 12));
    if (!size) reader.fail_at(at, "a tar header has no readable size");
    const size_t offset = reader.offset();
    const ByteSpan data = reader.bytes(*size, "a tar member");
    const uint64_t padding = (kBlock - *size % kBlock) % kBlock;
    reader.skip(std::min<uint64_t>(padding, reader.remaining()), "padding");
    if (is_regular(header) != want_regular || is_harmless_extension(header, data)) continue;
    if (found.size() == kMostMembers) {
      throw Error(ErrorCode::kLimit, fmt::format("a tar archive of more than {} members", kMostMembers));
    }
    found.push_back({field(header, 0, 100), offset, data});
  }
  if (want_regular) refuse_equal_names(found);
  return found;
}

}  // namespace

bool looks_like_tar(ByteSpan bytes) {
  if (bytes.size() < kBlock) return false;
  // Leniently: torch.load asks Python's reader first, and what that takes for tar is tar.
  const ByteSpan header = bytes.first(kBlock);
  const std::optional<int64_t> stated = lenient_number(as_text(header.subspan(148, 8)));
  const Checksums sums = checksums(header);
  return stated && (*stated == sums.of_bytes || *stated == sums.of_signed_bytes);
}

std::vector<Member> read_members(ByteSpan bytes) { return members(bytes, true); }

std::vector<Member> read_other_members(ByteSpan bytes) { return members(bytes, false); }

}  // namespace flambeau::tar
