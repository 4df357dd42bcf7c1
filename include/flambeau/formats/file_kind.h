// Which of the many kinds of PyTorch file this is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "flambeau/base/bytes.h"

namespace flambeau {

class Mapping;
class RecordArchive;

// One for each line of list.def.
enum class FileKind : uint8_t {
#define FLAMBEAU_FORMAT(NAME) k##NAME,
#include "flambeau/formats/list.def"
#undef FLAMBEAU_FORMAT
};

struct FileKindInfo {
  FileKind kind;
  std::string_view name;         // for scripts: "torch_save"
  std::string_view description;  // for people
  bool has_weights;              // load_checkpoint can open it
  bool can_write;                // save_checkpoint can write it
};
FileKindInfo file_kind_info(FileKind kind);
// Whether it holds exported programs.
bool is_program_kind(FileKind kind);
// The kind that a file's ending asks for where weights are written: ".pt", ".pth", ".bin", ".ckpt",
// ".safetensors", ".npz". Nothing for another ending.
std::optional<FileKind> weight_format_for(std::string_view path);

// Mapping::open, but what comes through a pipe or from a device is read to its end only when its first bytes
// are those of a kind of file that is known; otherwise throws Error(kUnsupported).
std::shared_ptr<Mapping> open_model_file(const std::string& path);

// Looks at the bytes, never at the file's name. kUnknown when nothing fits. Throws only for a zip archive
// that is broken.
FileKind recognize(const std::shared_ptr<Mapping>& mapping);

// The same, with the archive that was opened on the way; null for files that are no zip archive.
struct RecognizedFile {
  FileKind kind = FileKind::kUnknown;
  std::shared_ptr<const RecordArchive> archive;
};
RecognizedFile recognize_file(const std::shared_ptr<Mapping>& mapping);

// What a file of kind kUnknown seems to be instead ("a gzip file"), with what to do; empty when there is
// no idea.
std::string_view foreign_kind(ByteSpan bytes);

}  // namespace flambeau
