// Compares what stands around a record's data, the local header before and the data descriptor after it,
// with the central directory: readers that trust one or the other must see the same archive.
#pragma once

#include <array>
#include <cstdint>

#include "flambeau/archive/zip/directory.h"
#include "flambeau/archive/zip/reader.h"
#include "flambeau/base/bytes.h"
#include "flambeau/base/files/mapping.h"

namespace flambeau::zip {

// The bytes around records, whose headers lie far apart in a large file: read, not mapped, one piece for the
// end of a record and the header of the next.
class Surroundings {
 public:
  explicit Surroundings(const Mapping& mapping);
  // `count` bytes; valid until the next call. The caller knows that they are inside of the file.
  ByteSpan get(uint64_t offset, uint64_t count);

 private:
  const Mapping& mapping_;
  bool reads_;
  uint64_t begin_ = 0;
  size_t size_ = 0;
  uint8_t window_[768];
};

// What precedes a header: room for the descriptor of the record before.
using Preceding = std::array<uint8_t, 24>;

// Where the record's data begins. The data is then known to end before `directory_offset`.
// Throws Error(kCorrupt).
uint64_t check_local_header(Surroundings& file, const CentralHeader& central, uint64_t directory_offset);

// The bytes just before `offset`, zeros where the file has none.
Preceding bytes_before(Surroundings& file, uint64_t offset);

// Checks the bytes between a record's data and `next`, where the next record or the directory begins: a
// data descriptor (32 or 64 bits, with or without its signature) if one was announced, otherwise none.
// `preceding` is what stands before `next`. Throws Error(kCorrupt).
void check_after_data(const Preceding& preceding, const Entry& entry, bool has_descriptor, uint64_t next);

}  // namespace flambeau::zip
