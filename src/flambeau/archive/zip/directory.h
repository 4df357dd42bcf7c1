// Finds the central directory and reads its headers, with their ZIP64 parts already resolved.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "flambeau/base/bytes.h"
#include "flambeau/base/error.h"

namespace flambeau::zip {

struct Directory {
  uint64_t offset = 0;
  uint64_t end = 0;
  uint64_t count = 0;
};

// Checks that the end records fill the rest of the file after the directory, and that the directory has
// room for `count` headers. Throws Error(kCorrupt, kUnsupported).
Directory find_directory(ByteSpan file);

struct CentralHeader {
  std::string_view name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc32 = 0;
  uint64_t compressed_size = 0;
  uint64_t size = 0;
  uint64_t header_offset = 0;
  uint64_t at = 0;    // of this header itself
  uint64_t next = 0;  // where the next one begins
};

// Reads the header at `at`; refuses what no reader should open: encryption, unknown methods and flags,
// links, names that are not plain relative paths. Throws Error(kCorrupt, kUnsupported, kUnsafe).
CentralHeader read_central_header(ByteSpan file, uint64_t at, const Directory& directory);

// The ZIP64 field of an extra area, empty when there is none. Checks the area's structure and that no
// second name hides in it. Throws Error(kCorrupt).
ByteSpan zip64_field(ByteSpan extra, uint64_t at, std::string_view name);

// The errors of this reader: located at the record and the byte.
[[noreturn]] void fail_at(uint64_t byte, ErrorCode code, std::string message, std::string remedy = {});
[[noreturn]] void fail_record(std::string_view name, uint64_t byte, ErrorCode code, std::string message);

}  // namespace flambeau::zip
