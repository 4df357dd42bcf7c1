#include "flambeau/archive/zip/local.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/archive/zip/format.h"

namespace flambeau::zip {
namespace {

[[noreturn]] void fail_difference(std::string_view name, uint64_t at, const char* what, uint64_t found,
                                  uint64_t expected) {
  fail_record(name, at, ErrorCode::kCorrupt,
              fmt::format("{} {} here, {} in the central directory", what, found, expected));
}

struct LocalSizes {
  uint64_t size;
  uint64_t compressed_size;
};

// PyTorch writes zero 32-bit sizes and a ZIP64 field with the size (the compressed size still zero), the
// header's offset, or both; Python's zipfile all ones and both sizes. Each must tell the truth or be zero.
LocalSizes resolve_sizes(ByteSpan zip64, LocalSizes narrow, const CentralHeader& central, uint64_t at) {
  const bool has_sizes = zip64.size() == 16 || zip64.size() == 24;
  const bool has_offset = zip64.size() == 8 || zip64.size() == 24;
  if (!zip64.empty() && !has_sizes && !has_offset) {
    fail_record(central.name, at, ErrorCode::kCorrupt,
                fmt::format("the local ZIP64 extra field has {} bytes, expected 8, 16 or 24", zip64.size()));
  }
  if (has_offset) {
    const auto offset = load_le<uint64_t>(&zip64[zip64.size() - 8]);
    if (offset != central.header_offset) {
      fail_difference(central.name, at, "ZIP64 header offset", offset, central.header_offset);
    }
  }
  if (!has_sizes) return narrow;
  const LocalSizes wide{load_le<uint64_t>(&zip64[0]), load_le<uint64_t>(&zip64[8])};
  // A field that is not all ones counts by itself, but the ZIP64 value may not contradict it.
  if (narrow.size != kSaturated32 && wide.size != 0 && wide.size != central.size) {
    fail_difference(central.name, at, "ZIP64 size", wide.size, central.size);
  }
  if (narrow.compressed_size != kSaturated32 && wide.compressed_size != 0 &&
      wide.compressed_size != central.compressed_size) {
    fail_difference(central.name, at, "ZIP64 compressed size", wide.compressed_size, central.compressed_size);
  }
  return {narrow.size == kSaturated32 ? wide.size : narrow.size,
          narrow.compressed_size == kSaturated32 ? wide.compressed_size : narrow.compressed_size};
}

}  // namespace

Surroundings::Surroundings(const Mapping& mapping)
    // In a small file the pages are few, and mapping them is cheaper.
    : mapping_(mapping), reads_(mapping.has_file() && mapping.size() > (4U << 20)) {}

ByteSpan Surroundings::get(uint64_t offset, uint64_t count) {
  if (!reads_ || count > sizeof window_) return mapping_.bytes().subspan(offset, count);
  if (offset < begin_ || count > size_ || offset - begin_ > size_ - count) {
    size_ = std::min<uint64_t>(sizeof window_, mapping_.size() - offset);
    begin_ = offset;
    mapping_.read_at(begin_, {window_, size_});
  }
  return {window_ + (offset - begin_), count};
}

Preceding bytes_before(Surroundings& file, uint64_t offset) {
  Preceding result{};
  const uint64_t count = std::min<uint64_t>(offset, result.size());
  const ByteSpan bytes = file.get(offset - count, count);
  std::copy(bytes.begin(), bytes.end(), result.end() - static_cast<ptrdiff_t>(count));
  return result;
}

uint64_t check_local_header(Surroundings& file, const CentralHeader& central, uint64_t directory_offset) {
  const uint64_t at = central.header_offset;
  if (at > directory_offset || directory_offset - at < kLocalSize) {
    fail_record(central.name, central.at, ErrorCode::kCorrupt,
                fmt::format("is said to be at byte {}, the records end at byte {}", at, directory_offset));
  }
  uint8_t raw[kLocalSize];
  const ByteSpan header = file.get(at, kLocalSize);
  std::copy(header.begin(), header.end(), raw);
  if (load_le<uint32_t>(raw) != kLocalSignature) {
    fail_record(central.name, at, ErrorCode::kCorrupt, "no local header where the central directory points");
  }
  const uint64_t name_size = load_le<uint16_t>(raw + 26);
  const uint64_t extra_size = load_le<uint16_t>(raw + 28);
  const uint64_t room = directory_offset - at - kLocalSize;
  if (room < name_size + extra_size || room - name_size - extra_size < central.compressed_size) {
    fail_record(central.name, at, ErrorCode::kCorrupt,
                fmt::format("has {} bytes of header and {} of data, {} are left",
                            kLocalSize + name_size + extra_size, central.compressed_size, room + kLocalSize));
  }
  const ByteSpan variable = file.get(at + kLocalSize, name_size + extra_size);
  const std::string_view name = as_text(variable.first(name_size));
  if (name != central.name) {
    fail_record(central.name, at, ErrorCode::kCorrupt,
                fmt::format("is called '{}' in its local header", printable(name)));
  }
  const auto flags = load_le<uint16_t>(raw + 6);
  if (flags != central.flags) fail_difference(central.name, at, "flags", flags, central.flags);
  const auto method = load_le<uint16_t>(raw + 8);
  if (method != central.method)
    fail_difference(central.name, at, "compression method", method, central.method);

  const uint64_t extra_at = at + kLocalSize + name_size;
  const ByteSpan zip64 = zip64_field(variable.subspan(name_size), extra_at, central.name);
  const LocalSizes sizes =
      resolve_sizes(zip64, {load_le<uint32_t>(raw + 22), load_le<uint32_t>(raw + 18)}, central, at);
  const auto crc = load_le<uint32_t>(raw + 14);
  // With a descriptor the values come after the data, and those here may still be zero.
  const bool later = (central.flags & kFlagDescriptor) != 0;
  if (crc != central.crc32 && !(later && crc == 0))
    fail_difference(central.name, at, "CRC-32", crc, central.crc32);
  if (sizes.size != central.size && !(later && sizes.size == 0)) {
    fail_difference(central.name, at, "size", sizes.size, central.size);
  }
  if (sizes.compressed_size != central.compressed_size && !(later && sizes.compressed_size == 0)) {
    fail_difference(central.name, at, "compressed size", sizes.compressed_size, central.compressed_size);
  }
  return extra_at + extra_size;
}

void check_after_data(const Preceding& preceding, const Entry& entry, bool has_descriptor, uint64_t next) {
  const uint64_t data_end = entry.data_offset + entry.compressed_size;
  const uint64_t gap = next - data_end;
  if (!has_descriptor) {
    if (gap == 0) return;
    fail_record(entry.name, data_end, ErrorCode::kCorrupt,
                fmt::format("the {} bytes after it belong to nothing", gap));
  }
  const bool has_signature = gap == 16 || gap == 24;
  const bool wide = gap == 20 || gap == 24;
  if (!has_signature && gap != 12 && gap != 20) {
    fail_record(entry.name, data_end, ErrorCode::kCorrupt,
                fmt::format("a data descriptor of 12 to 24 bytes must follow, found {} bytes", gap));
  }
  const uint8_t* raw = preceding.data() + preceding.size() - gap;
  if (has_signature) {
    if (load_le<uint32_t>(raw) != kDescriptorSignature) {
      fail_record(entry.name, data_end, ErrorCode::kCorrupt, "no data descriptor after the data");
    }
    raw += 4;
  }
  const auto crc = load_le<uint32_t>(raw);
  const uint64_t compressed_size = wide ? load_le<uint64_t>(raw + 4) : load_le<uint32_t>(raw + 4);
  const uint64_t size = wide ? load_le<uint64_t>(raw + 12) : load_le<uint32_t>(raw + 8);
  if (crc != entry.crc32) fail_difference(entry.name, data_end, "CRC-32", crc, entry.crc32);
  if (compressed_size != entry.compressed_size) {
    fail_difference(entry.name, data_end, "compressed size", compressed_size, entry.compressed_size);
  }
  if (size != entry.size) fail_difference(entry.name, data_end, "size", size, entry.size);
}

}  // namespace flambeau::zip
