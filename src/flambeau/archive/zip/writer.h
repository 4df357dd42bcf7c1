// Writes the zip archives that PyTorch's stream writer makes: stored records whose data starts at a
// multiple of 64 bytes, padded through an "FB" extra field. The same content gives the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "flambeau/base/files/byte_sink.h"

namespace flambeau::zip {

struct WriterOptions {
  // The folder inside the archive that all records live in, without the slash; empty for none.
  std::string top_folder = "archive";
  uint64_t alignment = 64;
  bool compute_crc32 = true;
};

// A record's bytes, delivered piece by piece so that it can be larger than memory. Called once.
using RecordSource = std::function<void(const std::function<void(ByteSpan)>& emit)>;

// After an Error from within a record (its source or the sink failed) the archive cannot be finished.
class Writer {
 public:
  // Throws Error(kInvalidArgument) for an alignment of 0 or beyond what the padding field can hold.
  Writer(ByteSink& sink, WriterOptions options);

  // Throws Error(kInvalidArgument) for a name already written or one that is not a clean relative path.
  void add(std::string_view name, ByteSpan data);
  void add_text(std::string_view name, std::string_view text);
  // Compressed, byte for byte as PyTorch does it for the sources and debug files of TorchScript (those
  // over 200 bytes). Like PyTorch, stores up to 3 bytes as they are.
  void add_deflated(std::string_view name, ByteSpan data);
  // Compressed soon rather than well, but for up to 3 bytes.
  void add_deflated_quickly(std::string_view name, ByteSpan data);
  // `size` must be what the source gives.
  void add_stream(std::string_view name, uint64_t size, const RecordSource& source);
  // `.data/serialization_id` as PyTorch computes it from the names and checksums written so far.
  void add_serialization_id();
  // The central directory. Nothing may be added afterwards.
  void finish();

 private:
  struct Written {
    std::string name;  // with the top folder
    uint64_t header_offset = 0;
    uint64_t size = 0;
    uint64_t compressed_size = 0;
    uint32_t crc32 = 0;
    bool deflated = false;
    // PyTorch's rule: by the uncompressed size and the place, whatever the compressed size is.
    bool has_wide_size() const;
    bool has_wide_offset() const;
  };
  uint64_t position() const { return sink_.position() - start_; }
  // Everything before the data; the caller then writes the data and calls end_record.
  void begin_record(std::string_view name, uint64_t size, bool deflated);
  void end_record(uint64_t compressed_size, uint32_t crc32);
  // The start of stored data goes into PyTorch's combined checksum if it looks like a data descriptor.
  void combine_data_start(ByteSpan start);
  uint32_t checksum(uint32_t crc32, ByteSpan data) const;

  ByteSink& sink_;
  WriterOptions options_;
  uint64_t start_;  // where the archive begins in the sink
  bool finished_ = false;
  bool in_record_ = false;  // stays true when a record fails: then there is no archive any more
  std::vector<Written> written_;
  // Iterated for the serialization id: PyTorch's id depends on this container's order.
  std::unordered_set<std::string> names_;
  uint64_t combined_crc_ = 0;
};

}  // namespace flambeau::zip
