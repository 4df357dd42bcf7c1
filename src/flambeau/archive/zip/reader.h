// Reads a zip archive in place. Strict: where two parts of the archive disagree, or a byte has no owner,
// it is an error, because two readers could see two different files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/zip/format.h"
#include "flambeau/base/files/mapping.h"

namespace flambeau::zip {

enum class Method : uint16_t { kStored = 0, kDeflated = 8 };

struct Entry {
  std::string_view name;  // exactly as stored; never used as a path
  Method method = Method::kStored;
  uint32_t crc32 = 0;
  uint64_t compressed_size = 0;
  uint64_t size = 0;
  uint64_t header_offset = 0;
  uint64_t data_offset = 0;  // of the first (compressed) byte of the record
  // PyTorch writes no checksum when told so (crc32 0 for nonempty bytes): then there is nothing to check.
  bool has_crc() const { return crc32 != 0 || size == 0; }
};

struct Limits {
  uint64_t entries = kMostEntries;
  // A deflated record may grow to this many times its compressed size (deflate itself cannot pass 1032).
  uint64_t inflate_ratio = 1040;
  // and to this many bytes in all.
  uint64_t inflate_bytes = 1ULL << 32;
};

class Reader {
 public:
  // Reads and cross-checks the central directory and every local header; touches no record's data.
  // Throws Error(kCorrupt, kUnsupported, kUnsafe, kLimit) with the file (if the mapping has a path), the
  // record and the byte as locations; so do read and verify.
  static Reader open(std::shared_ptr<Mapping> mapping, const Limits& limits = {});

  std::span<const Entry> entries() const { return entries_; }  // in the central directory's order
  const Entry* find(std::string_view name) const;              // exact; null when absent
  const std::shared_ptr<Mapping>& mapping() const { return mapping_; }

  // A stored record in place, unchecked against its CRC. Throws Error(kInvalidArgument) when deflated.
  ByteSpan view(const Entry& entry) const;
  // The record's bytes, inflated if need be and checked against the CRC. Throws Error(kCorrupt, kLimit).
  std::vector<uint8_t> read(const Entry& entry) const;
  // The first `count` bytes of the record, or all of a shorter one, not compared with the CRC; a deflated
  // record is inflated no further. Throws Error(kCorrupt).
  std::vector<uint8_t> read_start(const Entry& entry, size_t count) const;
  // Reads through a record and compares its CRC, without keeping the bytes. Throws Error(kCorrupt, kLimit).
  void verify(const Entry& entry) const;

 private:
  // Sorted by hash, then name: unlike a hash table, no choice of names makes it slow.
  struct NameKey {
    uint64_t hash;
    uint64_t index;
  };

  Reader() = default;
  void read_headers();
  void index_names();
  std::vector<uint8_t> inflate(const Entry& entry) const;
  void check_crc(const Entry& entry, ByteSpan data) const;

  std::shared_ptr<Mapping> mapping_;
  Limits limits_;
  std::vector<Entry> entries_;
  std::vector<NameKey> by_name_;
};

// True when the bytes start like a zip archive (a local header or an empty archive's end record).
bool looks_like_zip(ByteSpan bytes);

}  // namespace flambeau::zip
