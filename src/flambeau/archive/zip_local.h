// Compares what stands around a record's data, the local header before and the data descriptor after it,
// with the central directory: readers that trust one or the other must see the same archive.
#pragma once

#include <cstdint>

#include "flambeau/archive/zip_directory.h"
#include "flambeau/archive/zip_reader.h"
#include "flambeau/base/bytes.h"

namespace flambeau::zip {

// Where the record's data begins. The data is then known to end before `directory_offset`.
// Throws Error(kCorrupt).
uint64_t check_local_header(ByteSpan file, const CentralHeader& central, uint64_t directory_offset);

// Checks the bytes between a record's data and `next`, where the next record or the directory begins: a
// data descriptor (32 or 64 bits, with or without its signature) if one was announced, otherwise none.
// Throws Error(kCorrupt).
void check_after_data(ByteSpan file, const Entry& entry, bool has_descriptor, uint64_t next);

}  // namespace flambeau::zip
