// What the library knows of a kind of file: one entry per format, made in the format's own folder. Whatever
// depends on the kind of a file asks its entry.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/file_kind.h"
#include "flambeau/formats/safety/safety.h"

namespace flambeau {

class Inspecting;
namespace pt2 {
struct Package;
}
namespace safety {
class Checker;
}

// How weights are written, by the formats that can be.
struct WeightWriter {
  // `top_folder` is the folder inside of an archive.
  void (*write)(ByteSink& sink, const Checkpoint& checkpoint, const std::string& top_folder,
                Progress& progress) = nullptr;
  std::array<std::string_view, 4> endings = {};  // of file names
  // Has room for what is around the tensors, and for storages that they share.
  bool keeps_structure = false;
};

// A file inside of a file that an index names.
struct FilePart {
  std::string file;
  uint64_t offset = 0;
  uint64_t length = 0;
};

struct Format {
  std::string_view name = {};         // for scripts: "torch_save"
  std::string_view description = {};  // for people: "a torch.save file (zip)"

  // One of the two says whether a file is of this kind: of its bytes where it is no zip archive.
  bool (*fits)(ByteSpan bytes) = nullptr;
  bool (*fits_archive)(const RecordArchive& archive) = nullptr;
  // Whether the rest of what begins like this may make it fit, where `fits` cannot tell.
  bool (*may_begin)(ByteSpan first) = nullptr;
  bool has_flat_records = false;  // an archive whose records lie in no common folder

  // The weights; nothing for a kind without any. Throws what load_checkpoint() throws.
  Checkpoint (*open)(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) = nullptr;
  bool has_structure = false;  // a tree is around them, which is worth a picture
  // What a folder calls the file that stands for its weights: "model.safetensors". Those that can be written
  // may be split into shards.
  std::string_view model_file = {};
  // Of an index, whose weights are in other files: which these are. They are looked for beside it.
  std::vector<std::string> (*files_beside)(const std::shared_ptr<Mapping>& mapping) = nullptr;
  // What lies where in them, if they are no files of a known kind themselves; by file and place.
  std::vector<FilePart> (*parts_beside)(const std::shared_ptr<Mapping>& mapping) = nullptr;
  WeightWriter writer = {};

  // The exported programs; nothing for a kind without any.
  void (*read_programs)(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping,
                        pt2::Package& package) = nullptr;
  bool is_torchscript = false;  // its pickles are read by TorchScript, with classes of the archive's own

  // Adds what there is to say besides tensors, records and pickles.
  void (*inspect)(Inspecting& inspecting) = nullptr;
  std::string_view note = {};  // what is not shown, and why

  // The ways that are meant for such a file in PyTorch; the others give an error.
  Openings openings = 0;
  // Looks at every byte, or at every record of an archive, and says what it finds. What has no check is taken
  // for a file of no known kind: nobody knows what it would do.
  void (*check)(safety::Checker& checker) = nullptr;

  bool has_weights() const { return open != nullptr; }
  bool is_index() const { return files_beside != nullptr; }
  bool has_programs() const { return read_programs != nullptr; }
  bool can_write() const { return writer.write != nullptr; }
};

#define FLAMBEAU_FORMAT(NAME) extern const Format k##NAME##Format;
#include "flambeau/formats/list.def"
#undef FLAMBEAU_FORMAT

const Format& format_of(FileKind kind);
// By FileKind: the order in which a file is compared with them.
std::span<const Format* const> all_formats();

}  // namespace flambeau
