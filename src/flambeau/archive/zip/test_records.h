// Archives that lie, for the tests of the reader.
#pragma once

#include <libdeflate.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/zip/format.h"
#include "flambeau/base/bytes.h"

namespace flambeau::zip {

// An archive with every field open to lies. Offsets and sizes are filled in when left alone.
struct TestRecord {
  std::string name = "a/x";
  std::string data = "hello";
  uint16_t flags = kFlagUtf8;
  uint16_t method = 0;
  uint64_t size = ~0ULL;  // of the data by default
  std::string local_extra = {};
  std::string central_extra = {};
  uint32_t attributes = 0;
  std::string descriptor = {};
  std::string local_name = {};  // the name by default
  int local_crc_change = 0;
  uint16_t local_flags_change = 0;
  uint16_t local_method_change = 0;
  uint32_t local_size_change = 0;
  int64_t offset = -1;
};

inline uint32_t crc_of(std::string_view data) { return libdeflate_crc32(0, data.data(), data.size()); }

inline std::vector<uint8_t> build(const std::vector<TestRecord>& records, std::string_view before = "",
                                  std::string_view after = "") {
  ByteWriter out;
  ByteWriter directory;
  out.text(before);
  for (const TestRecord& record : records) {
    const uint64_t at = record.offset >= 0 ? static_cast<uint64_t>(record.offset) : out.size();
    const auto size = static_cast<uint32_t>(record.size == ~0ULL ? record.data.size() : record.size);
    const uint32_t crc = record.method == 0 ? crc_of(record.data) : 0;
    const bool later = (record.flags & kFlagDescriptor) != 0;
    const std::string& local_name = record.local_name.empty() ? record.name : record.local_name;
    out.le(kLocalSignature);
    out.le(uint16_t{20});
    out.le(static_cast<uint16_t>(record.flags ^ record.local_flags_change));
    out.le(static_cast<uint16_t>(record.method ^ record.local_method_change));
    out.le(uint32_t{0});
    out.le(static_cast<uint32_t>(later ? 0 : crc + record.local_crc_change));
    out.le(static_cast<uint32_t>(later ? 0 : record.data.size()));
    out.le(static_cast<uint32_t>(later ? 0 : size + record.local_size_change));
    out.le(static_cast<uint16_t>(local_name.size()));
    out.le(static_cast<uint16_t>(record.local_extra.size()));
    out.text(local_name);
    out.text(record.local_extra);
    out.text(record.data);
    out.text(record.descriptor);
    directory.le(kCentralSignature);
    directory.le(uint16_t{0x0314});
    directory.le(uint16_t{20});
    directory.le(record.flags);
    directory.le(record.method);
    directory.le(uint32_t{0});
    directory.le(crc);
    directory.le(static_cast<uint32_t>(record.data.size()));
    directory.le(size);
    directory.le(static_cast<uint16_t>(record.name.size()));
    directory.le(static_cast<uint16_t>(record.central_extra.size()));
    directory.fill(6, '\0');
    directory.le(record.attributes);
    directory.le(static_cast<uint32_t>(at));
    directory.text(record.name);
    directory.text(record.central_extra);
  }
  out.text(after);
  const auto directory_at = static_cast<uint32_t>(out.size());
  out.bytes(directory.view());
  out.le(kEndSignature);
  out.le(uint32_t{0});
  out.le(static_cast<uint16_t>(records.size()));
  out.le(static_cast<uint16_t>(records.size()));
  out.le(static_cast<uint32_t>(directory.size()));
  out.le(directory_at);
  out.le(uint16_t{0});
  return {out.view().begin(), out.view().end()};
}

}  // namespace flambeau::zip
