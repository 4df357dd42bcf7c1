// Everything that can be said of a file without running any of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/compiled.h"
#include "flambeau/formats/file_kind.h"
#include "flambeau/formats/outline.h"

namespace flambeau {

enum class RecordRole : uint8_t {
  kPickle,
  kStorage,
  kCode,
  kDebug,
  kProgram,
  kConfig,
  kLibrary,
  kExtraFile,
  kArray,
  kMarker,
  kOther
};
std::string_view record_role_name(RecordRole role);

struct RecordInfo {
  std::string name;  // as stored, with the archive's top folder
  RecordRole role = RecordRole::kOther;
  uint64_t size = 0;
  uint64_t compressed_size = 0;
  bool is_compressed = false;
  uint32_t crc32 = 0;
};

struct Inspection {
  uint64_t file_size = 0;
  FileKind kind = FileKind::kUnknown;
  // "PyTorch 2.1 or newer", from what the archive holds; empty when there is no telling.
  std::string producer;
  std::optional<int64_t> format_version;  // the archive's "version" record
  std::string byte_order;                 // "little", "big"; empty when the kind has none
  std::vector<RecordInfo> records;        // of zip and tar archives
  bool records_are_files = false;         // beside the file, which is an index of them
  std::optional<Checkpoint> checkpoint;   // the tensors, where the kind has them
  // What the file says of itself by name: safetensors' and GGUF's metadata.
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<OutlineLine> structure;
  std::vector<CompiledModel> compiled;  // of a package: libraries made of programs
  std::vector<std::string> globals;     // every name the pickles mention, sorted
  // What is not shown, and why.
  std::vector<std::string> notes;
};

// Throws Error(kNotFound, kIo, kCorrupt, kLimit) located at the file. A file of an unknown kind is no
// error: it is shown as such.
Inspection inspect_file(const std::string& path);
Inspection inspect_file(const std::shared_ptr<Mapping>& mapping);

// The records of an archive; empty for files that are none.
std::vector<RecordInfo> list_records(const std::shared_ptr<Mapping>& mapping);

// Gives out the bytes of records. Opens the archive once: there may be a hundred thousand of them.
class RecordExtractor {
 public:
  // Throws Error(kInvalidArgument) for a file that is no archive, and what opening one throws.
  explicit RecordExtractor(const std::shared_ptr<Mapping>& mapping);
  ~RecordExtractor();
  RecordExtractor(RecordExtractor&&) noexcept;
  RecordExtractor& operator=(RecordExtractor&&) noexcept;

  // The bytes of a record, named in full or without the top folder. Throws Error(kNotFound, kCorrupt).
  std::vector<uint8_t> extract(std::string_view name) const;

 private:
  struct Opened;
  std::unique_ptr<Opened> opened_;
};

// The same for a single record.
std::vector<uint8_t> extract_record(const std::shared_ptr<Mapping>& mapping, std::string_view name);

}  // namespace flambeau
