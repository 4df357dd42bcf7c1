// PyTorch's view of a zip archive: records by their name inside the one top folder, and the few records
// that describe the archive itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/zip/reader.h"

namespace flambeau {

// How much a record may inflate to when it is read only to see what is in it: 24 MB, or 4 times the file.
uint64_t most_inflated_bytes(uint64_t file_size);
bool inflates_too_much(const zip::Reader& zip, const zip::Entry& entry);
// The record's bytes. Throws Error(kCorrupt, kLimit).
std::vector<uint8_t> read_modest_record(const zip::Reader& zip, const zip::Entry& entry);

enum class ByteOrder : uint8_t { kLittle, kBig };

class RecordArchive {
 public:
  // Like PyTorch, takes the first record's name up to its first '/' as the top folder. Where that name has
  // no '/', the archive has no top folder (the first .pt2 files) and names are used as they are.
  // Throws what zip::Reader::open throws, and Error(kCorrupt) for an archive without records.
  static RecordArchive open(std::shared_ptr<Mapping> mapping, const zip::Limits& limits = {});

  const zip::Reader& zip() const { return zip_; }
  // Without the slash; empty when there is none.
  const std::string& top_folder() const { return top_folder_; }

  // Exact names, relative to the top folder.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const zip::Entry* find(std::string_view name) const;  // null when absent
  // Throws Error(kNotFound), naming the record.
  const zip::Entry& get(std::string_view name) const;
  // A stored record in place, not compared with its CRC. Throws Error(kNotFound, kInvalidArgument).
  ByteSpan view(std::string_view name) const { return zip_.view(get(name)); }
  // Inflated if need be, and compared with the CRC. Throws Error(kNotFound, kCorrupt, kLimit).
  std::vector<uint8_t> read(std::string_view name) const { return zip_.read(get(name)); }
  // The same of what is only looked at: no more than read_modest_record() gives.
  std::string read_text(std::string_view name) const;

  // In the archive's order, without folders.
  std::vector<std::string_view> names() const;
  // Full names of the records that are not in the top folder; PyTorch's own files have none.
  std::vector<std::string_view> outside() const;

  // The number in ".data/version", or else "version"; nothing when neither is there.
  // Throws Error(kCorrupt) when it is not a number.
  std::optional<int64_t> version() const;
  // Files from before PyTorch 2.1 have no "byteorder" record, and are little-endian.
  // Throws Error(kCorrupt) for anything but "little" and "big".
  ByteOrder byteorder() const;

 private:
  explicit RecordArchive(zip::Reader zip) : zip_(std::move(zip)) {}
  // The name inside the top folder; nothing for a record outside of it.
  std::optional<std::string_view> relative(std::string_view name) const;

  zip::Reader zip_;
  std::string top_folder_;
};

}  // namespace flambeau
