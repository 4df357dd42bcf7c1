// Writes the zip archives that PyTorch's stream writer makes: stored records whose data starts at a
// multiple of 64 bytes, padded through an "FB" extra field. The same content gives the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "flambeau/base/byte_sink.h"

namespace flambeau::zip {

struct WriterOptions {
  // The folder inside the archive that all records live in, without the slash; empty for none.
  std::string top_folder = "archive";
  uint64_t alignment = 64;
  bool compute_crc32 = true;
};

// A record's bytes, delivered piece by piece so that it can be larger than memory. Called once or twice
// (first for the checksum where the format needs it before the data); must give the same bytes each time.
using RecordSource = std::function<void(const std::function<void(ByteSpan)>& emit)>;

class Writer {
 public:
  Writer(ByteSink& sink, WriterOptions options);

  // Throws Error(kInvalidArgument) for a name already written or one that is not a clean relative path.
  void add(std::string_view name, ByteSpan data);
  void add_text(std::string_view name, std::string_view text);
  // `size` must be what the source gives.
  void add_stream(std::string_view name, uint64_t size, const RecordSource& source);
  // `.data/serialization_id` as PyTorch computes it from the names and checksums written so far.
  void add_serialization_id();
  // The central directory. Nothing may be added afterwards.
  void finish();

 private:
  struct Written {
    std::string name;
    uint64_t header_offset;
    uint64_t size;
    uint32_t crc32;
  };
  void write_header(const std::string& name, uint64_t size);

  ByteSink& sink_;
  WriterOptions options_;
  std::vector<Written> written_;
  // Iterated for the serialization id: PyTorch's id depends on this container's order.
  std::unordered_set<std::string> names_;
  uint64_t combined_crc_ = 0;
};

}  // namespace flambeau::zip
