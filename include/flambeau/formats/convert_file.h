// A file of weights becomes another: everything that `flambeau convert` does of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flambeau/formats/convert.h"

namespace flambeau {

struct ConvertFileOptions {
  std::optional<DType> dtype;          // for floating-point tensors
  std::vector<std::string> patterns;   // as name_matches() takes them
  std::optional<FileKind> format;      // nothing: by the output's ending
  std::optional<uint64_t> shard_size;  // several files of at most so many bytes, see save_shards()
  ThreadPool* pool = nullptr;          // must outlive what is loaded
};

// The output's format. Throws Error(kInvalidArgument) where its ending does not tell.
FileKind output_format(const std::string& output, const ConvertFileOptions& options);

// The weights as they are to be written. Throws Error(kUnsupported) for tensors that the format cannot have,
// Error(kUnsafe) where a torch.save file holds more than data and would hand it on, and what opening throws.
Checkpoint load_for_conversion(const std::string& input, FileKind format, const ConvertFileOptions& options);

struct ConvertedFile {
  std::vector<std::string> files;  // the one that stands for all of them first: the index of shards
  size_t tensors = 0;
  uint64_t bytes = 0;
};
// Throws as load_for_conversion() does.
ConvertedFile convert_checkpoint(Checkpoint checkpoint, const std::string& output,
                                 const ConvertFileOptions& options = {},
                                 Progress& progress = Progress::silent());
// The same of a file.
ConvertedFile convert_file(const std::string& input, const std::string& output,
                           const ConvertFileOptions& options = {}, Progress& progress = Progress::silent());

}  // namespace flambeau
