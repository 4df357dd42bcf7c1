// Which of the many kinds of PyTorch file this is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "flambeau/base/bytes.h"

namespace flambeau {

class Mapping;
class RecordArchive;

enum class FileKind : uint8_t {
  kUnknown,
  kTorchSave,          // torch.save, zip (since 1.6)
  kTorchSaveLegacy,    // torch.save, a row of pickles (0.1.10 to 1.5)
  kTorchSaveTar,       // torch.save, tar (before 0.1.10)
  kTorchScript,        // torch.jit.save
  kTorchScriptMobile,  // _save_for_lite_interpreter (.ptl)
  kTorchScriptLegacy,  // torch.jit.save before 1.3: model.json inside
  kMobileFlatBuffer,   // .ptl / .ff flatbuffer
  kPt2,                // torch.export.save, today's archive
  kPt2OldLayout,       // torch.export.save before 2.8
  kProgramJson,        // the program of one of these on its own
  kProgramText,        // the same as text that people can edit
  kTorchPackage,       // torch.package
  kSafetensors,
  kNpy,
  kNpz,
  kPickle,      // a bare pickle
  kZip,         // a zip archive of no known kind
  kShardIndex,  // the index of weights in several files, as Hugging Face writes it
  kGguf,
};

struct FileKindInfo {
  FileKind kind;
  std::string_view name;         // for scripts: "torch_save"
  std::string_view description;  // for people
  bool has_weights;              // load_checkpoint can open it
};
const FileKindInfo& file_kind_info(FileKind kind);
// Whether it holds exported programs.
inline bool is_program_kind(FileKind kind) {
  return kind == FileKind::kPt2 || kind == FileKind::kPt2OldLayout || kind == FileKind::kProgramJson ||
         kind == FileKind::kProgramText;
}

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
