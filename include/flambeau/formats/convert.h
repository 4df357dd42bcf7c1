// From any file of weights to another: the way data takes in `flambeau convert`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/file_api.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/checkpoint.h"

namespace flambeau {

class ThreadPool;

// Keeps what any of the patterns matches ('*' and '?' as in a shell, over the whole name); a pattern that
// starts with '!' takes away what it matches. Without a positive pattern everything is kept first.
bool name_matches(std::string_view name, const std::vector<std::string>& patterns);

// What to say where the patterns match no tensor: names, or first parts of names, that are nearly one of
// them.
std::string pattern_remedy(const std::vector<std::string>& patterns, const Checkpoint& checkpoint);

struct ConvertOptions {
  // For floating-point tensors, the values of sparse ones included; all others keep their type.
  std::optional<DType> dtype;
  std::vector<std::string> patterns;
  // Keeps tensors that share a storage together, by converting storages whole: for torch.save files.
  bool keep_sharing = true;
  ThreadPool* pool = nullptr;  // must outlive the result
};

// Applies dtype and patterns. With patterns the result is a flat state dict of what they keep; without,
// the structure stays as it was. Values are converted when they are read, and writers keep none of them:
// a checkpoint larger than the memory can be converted. Throws Error(kNotFound) when nothing is kept,
// Error(kInvalidArgument) for a type that weights cannot have.
Checkpoint transform(Checkpoint checkpoint, const ConvertOptions& options);

// The file's bytes in order. `top_folder` is the folder inside a torch.save archive. Throws
// Error(kInvalidArgument) for a format that is only read (FileKindInfo::can_write), Error(kLimit) when the
// tensors would take much more than their storages (see expansion.h), and what the writers throw.
void write_checkpoint(ByteSink& sink, const Checkpoint& checkpoint, FileKind format,
                      const std::string& top_folder = "archive", Progress& progress = Progress::silent());

// Writes atomically: the old file or the new one. Throws Error located at the file or the tensor.
void save_checkpoint(const Checkpoint& checkpoint, const std::string& path, FileKind format,
                     Progress& progress = Progress::silent(), FileApi& api = FileApi::system());

}  // namespace flambeau
