#include "flambeau/archive/zip/directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/archive/zip/format.h"
#include "flambeau/archive/zip/name.h"
#include "flambeau/archive/zip/reader.h"

namespace flambeau::zip {
namespace {

constexpr const char* kDamaged = "the file was cut off or changed; copy or download it again";

uint64_t find_end_record(ByteSpan file) {
  if (file.size() < kEndSize) {
    fail_at(0, ErrorCode::kCorrupt,
            fmt::format("a zip archive has at least {} bytes, found {}", kEndSize, file.size()), kDamaged);
  }
  // The comment after the record is at most 65535 bytes, so the record is near the end or nowhere.
  const uint64_t last = file.size() - kEndSize;
  const uint64_t first = last > kSaturated16 ? last - kSaturated16 : 0;
  for (uint64_t at = last;; --at) {
    if (load_le<uint32_t>(&file[at]) == kEndSignature) {
      const uint64_t comment = load_le<uint16_t>(&file[at + 20]);
      const uint64_t rest = file.size() - at - kEndSize;
      if (comment != rest) {
        fail_at(at, ErrorCode::kCorrupt,
                fmt::format("the last end-of-central-directory record announces {} bytes after it, found {}",
                            comment, rest),
                "something was appended to the archive, or it was cut off");
      }
      return at;
    }
    if (at == first) break;
  }
  fail_at(file.size(), ErrorCode::kCorrupt,
          "no end-of-central-directory record, which ends every zip archive", kDamaged);
}

// A 16- or 32-bit field must repeat the ZIP64 value, or be all ones.
void check_repeated(uint64_t narrow, uint64_t saturated, uint64_t wide, uint64_t at, const char* what) {
  if (narrow == saturated || narrow == wide) return;
  fail_at(at, ErrorCode::kCorrupt,
          fmt::format("{} is {} in the end record, {} in the ZIP64 end record", what, narrow, wide));
}

}  // namespace

void fail_at(uint64_t byte, ErrorCode code, std::string message, std::string remedy) {
  Error error(code, std::move(message), std::move(remedy));
  error.add_location("byte", std::to_string(byte));
  throw error;
}

void fail_record(std::string_view name, uint64_t byte, ErrorCode code, std::string message) {
  Error error(code, std::move(message));
  error.add_location("byte", std::to_string(byte)).add_location("record", std::string(name));
  throw error;
}

Directory find_directory(ByteSpan file) {
  const uint64_t end_at = find_end_record(file);
  const uint8_t* end = &file[end_at];
  uint64_t disk = load_le<uint16_t>(end + 4);
  uint64_t directory_disk = load_le<uint16_t>(end + 6);
  uint64_t count_here = load_le<uint16_t>(end + 8);
  uint64_t count = load_le<uint16_t>(end + 10);
  uint64_t size = load_le<uint32_t>(end + 12);
  uint64_t offset = load_le<uint32_t>(end + 16);
  uint64_t directory_end = end_at;

  const bool zip64 =
      end_at >= kLocator64Size + kEnd64Size && load_le<uint32_t>(end - kLocator64Size) == kLocator64Signature;
  if (zip64) {
    const uint64_t locator_at = end_at - kLocator64Size;
    const uint8_t* locator = &file[locator_at];
    const uint64_t record_at = load_le<uint64_t>(locator + 8);
    // Version 1 of the record, the only one in use, has a fixed size and stands right before its locator.
    if (record_at != locator_at - kEnd64Size) {
      fail_at(locator_at, ErrorCode::kCorrupt,
              fmt::format("the ZIP64 locator points to byte {}, the ZIP64 end record must be at byte {}",
                          record_at, locator_at - kEnd64Size),
              "something was put before the archive, or it was cut");
    }
    const uint8_t* record = &file[record_at];
    if (load_le<uint32_t>(record) != kEnd64Signature || load_le<uint64_t>(record + 4) != kEnd64Size - 12) {
      fail_at(record_at, ErrorCode::kCorrupt, "no ZIP64 end record where its locator points");
    }
    if (load_le<uint32_t>(locator + 4) != 0 || load_le<uint32_t>(locator + 16) > 1) disk = 1;
    check_repeated(count_here, kSaturated16, load_le<uint64_t>(record + 24), end_at, "the number of records");
    check_repeated(count, kSaturated16, load_le<uint64_t>(record + 32), end_at, "the number of records");
    check_repeated(size, kSaturated32, load_le<uint64_t>(record + 40), end_at, "the directory's size");
    check_repeated(offset, kSaturated32, load_le<uint64_t>(record + 48), end_at, "the directory's offset");
    disk |= load_le<uint32_t>(record + 16);
    directory_disk |= load_le<uint32_t>(record + 20);
    count_here = load_le<uint64_t>(record + 24);
    count = load_le<uint64_t>(record + 32);
    size = load_le<uint64_t>(record + 40);
    offset = load_le<uint64_t>(record + 48);
    directory_end = record_at;
  }
  if (disk != 0 || directory_disk != 0 || count_here != count) {
    fail_at(end_at, ErrorCode::kUnsupported, "the archive is one part of several");
  }
  if (size > directory_end || offset != directory_end - size) {
    fail_at(end_at, ErrorCode::kCorrupt,
            fmt::format("the central directory is said to be {} bytes at byte {}, but it must end at byte {}",
                        size, offset, directory_end),
            "something was put before the archive, or it was cut");
  }
  if (count > size / kCentralSize) {
    fail_at(end_at, ErrorCode::kCorrupt,
            fmt::format("{} records announced, the central directory's {} bytes hold at most {}", count, size,
                        size / kCentralSize));
  }
  return {offset, directory_end, count};
}

ByteSpan zip64_field(ByteSpan extra, uint64_t at, std::string_view name) {
  ByteSpan found;
  bool seen = false;
  uint64_t position = 0;
  while (extra.size() - position >= 4) {
    const auto id = load_le<uint16_t>(&extra[position]);
    const auto size = load_le<uint16_t>(&extra[position + 2]);
    if (extra.size() - position - 4 < size) {
      fail_record(name, at + position, ErrorCode::kCorrupt,
                  fmt::format("extra field {:#06x} has {} bytes, {} are left", id, size,
                              extra.size() - position - 4));
    }
    const ByteSpan field = extra.subspan(position + 4, size);
    if (id == kExtraZip64) {
      if (seen) fail_record(name, at + position, ErrorCode::kCorrupt, "two ZIP64 extra fields");
      seen = true;
      found = field;
    }
    // Readers that honour this field would see the record under another name.
    if (id == kExtraUnicodePath && (size < 5 || as_text(field.subspan(5)) != name)) {
      fail_record(name, at + position, ErrorCode::kCorrupt, "an extra field gives the record a second name");
    }
    position += 4 + size;
  }
  // Alignment tools leave up to three zero bytes, too few for a field.
  for (; position < extra.size(); ++position) {
    if (extra[position] != 0) {
      fail_record(name, at + position, ErrorCode::kCorrupt, "the extra fields end in the middle of one");
    }
  }
  return found;
}

namespace {

// Takes the values whose 32-bit fields are all ones from the ZIP64 field, which holds those and no others.
// The exception is PyTorch's: beside a size that needs ZIP64 it repeats a compressed size that does not.
void resolve_zip64(CentralHeader& header, ByteSpan extra, uint64_t extra_at) {
  ByteSpan field = zip64_field(extra, extra_at, header.name);
  const auto take = [&] {
    if (field.size() < 8) {
      fail_record(header.name, extra_at, ErrorCode::kCorrupt,
                  "a size or offset needs a ZIP64 extra field, which is missing or too short");
    }
    const auto value = load_le<uint64_t>(field.data());
    field = field.subspan(8);
    return value;
  };
  const bool wide_size = header.size == kSaturated32;
  const bool wide_offset = header.header_offset == kSaturated32;
  if (wide_size) header.size = take();
  if (header.compressed_size == kSaturated32) {
    header.compressed_size = take();
  } else if (wide_size && field.size() == (wide_offset ? 16U : 8U)) {
    const uint64_t repeated = take();
    if (repeated != header.compressed_size) {
      fail_record(header.name, extra_at, ErrorCode::kCorrupt,
                  fmt::format("the compressed size is {}, {} in the ZIP64 extra field",
                              header.compressed_size, repeated));
    }
  }
  if (wide_offset) header.header_offset = take();
  if (!field.empty()) {
    fail_record(header.name, extra_at, ErrorCode::kCorrupt,
                fmt::format("the ZIP64 extra field has {} bytes that stand for nothing", field.size()));
  }
}

void refuse_unsupported(const CentralHeader& header, uint32_t external_attributes) {
  const auto refuse = [&](ErrorCode code, std::string message) {
    fail_record(header.name, header.at, code, std::move(message));
  };
  if (header.flags & kFlagEncrypted) refuse(ErrorCode::kUnsupported, "is encrypted");
  constexpr uint16_t kKnown = kFlagDeflateEffort | kFlagDescriptor | kFlagUtf8;
  if (header.flags & ~kKnown) {
    refuse(ErrorCode::kUnsupported,
           fmt::format("flags {:#06x} ask for features that no PyTorch file uses", header.flags & ~kKnown));
  }
  if (header.method != static_cast<uint16_t>(Method::kStored) &&
      header.method != static_cast<uint16_t>(Method::kDeflated)) {
    refuse(ErrorCode::kUnsupported,
           fmt::format("compression method {}; stored (0) and deflated (8) are supported", header.method));
  }
  const uint32_t file_type = (external_attributes >> 28) & 0xf;  // of a Unix mode; 0 when there is none
  if (file_type == 0xa) refuse(ErrorCode::kUnsafe, "is a symbolic link");
  if (file_type != 0 && file_type != 0x8 && file_type != 0x4) {
    refuse(ErrorCode::kUnsafe, fmt::format("is a special file (Unix type {:#x})", file_type));
  }
}

}  // namespace

CentralHeader read_central_header(ByteSpan file, uint64_t at, const Directory& directory) {
  const uint64_t left = directory.end - at;
  if (left < kCentralSize || load_le<uint32_t>(&file[at]) != kCentralSignature) {
    fail_at(at, ErrorCode::kCorrupt, "no central directory header where the next one must be");
  }
  const uint8_t* raw = &file[at];
  const uint64_t name_size = load_le<uint16_t>(raw + 28);
  const uint64_t extra_size = load_le<uint16_t>(raw + 30);
  const uint64_t comment_size = load_le<uint16_t>(raw + 32);
  if (left - kCentralSize < name_size + extra_size + comment_size) {
    fail_at(at, ErrorCode::kCorrupt,
            fmt::format("a central directory header needs {} bytes, {} are left",
                        kCentralSize + name_size + extra_size + comment_size, left));
  }
  CentralHeader header;
  header.at = at;
  header.name = as_text(file.subspan(at + kCentralSize, name_size));
  header.flags = load_le<uint16_t>(raw + 8);
  header.method = load_le<uint16_t>(raw + 10);
  header.crc32 = load_le<uint32_t>(raw + 16);
  header.compressed_size = load_le<uint32_t>(raw + 20);
  header.size = load_le<uint32_t>(raw + 24);
  header.header_offset = load_le<uint32_t>(raw + 42);
  header.next = at + kCentralSize + name_size + extra_size + comment_size;
  if (const std::string problem = name_problem(header.name); !problem.empty()) {
    fail_record(header.name, at, ErrorCode::kUnsafe, "the name " + problem);
  }
  if (load_le<uint16_t>(raw + 34) != 0) {
    fail_record(header.name, at, ErrorCode::kUnsupported, "is in another part of the archive");
  }
  refuse_unsupported(header, load_le<uint32_t>(raw + 38));
  const uint64_t extra_at = at + kCentralSize + name_size;
  resolve_zip64(header, file.subspan(extra_at, extra_size), extra_at);
  if (header.method == static_cast<uint16_t>(Method::kStored) && header.compressed_size != header.size) {
    fail_record(
        header.name, at, ErrorCode::kCorrupt,
        fmt::format("is stored as {} bytes but said to have {}", header.compressed_size, header.size));
  }
  if (header.name.back() == '/' && header.size != 0) {
    fail_record(header.name, at, ErrorCode::kCorrupt, fmt::format("is a folder with {} bytes", header.size));
  }
  return header;
}

}  // namespace flambeau::zip
