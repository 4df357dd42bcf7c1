// One model in several files: read by its index, and written as Hugging Face writes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flambeau/base/files/file_api.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/convert.h"

namespace flambeau {

// The tensors of all shards in the index's order, mapped. Throws Error(kUnsupported) for an index that is not
// a file, Error(kNotFound) for a missing shard, Error(kCorrupt) where a shard does not hold what the index
// says, and what opening the shards throws.
Checkpoint read_shards(const std::shared_ptr<Mapping>& index);

// For every index of files beside it. Throws Error(kUnsupported) for one that came through a pipe or from
// memory.
void need_folder(const Mapping& index);
// Throws as Mapping::open does, with the remedy for a file that is missing.
std::shared_ptr<Mapping> open_beside(const std::string& path);

// What was written: the index and the shards, or the one file that held everything.
struct ShardedFiles {
  std::string main;  // the index, or the only file
  std::vector<std::string> shards;
  uint64_t bytes = 0;  // of all tensors
};

// Writes files of at most `most` bytes of tensors each (a tensor that is larger has a file for itself) and,
// where there is more than one, the index, which is put in place last: whatever happens, no index names files
// that are not all there. "x/model.safetensors" gives model-00001-of-00002.safetensors; a folder gives files
// with Hugging Face's names. Throws Error(kInvalidArgument) for a format without shards and where the folder
// has a file that readers would take for the model, Error(kLimit) for more than 500 files.
ShardedFiles save_shards(const Checkpoint& checkpoint, const std::string& path, FileKind format,
                         uint64_t most, Progress& progress = Progress::silent(),
                         FileApi& api = FileApi::system());

// "5GB", "500MB", "2GiB", "1000": nothing for what is none, or zero.
std::optional<uint64_t> parse_byte_count(std::string_view text);

}  // namespace flambeau
